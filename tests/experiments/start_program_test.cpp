// What a start, a resume and a changed mind must never lose.
#include <sys/resource.h>

#include <csignal>

#include "experiments/checkpoint/file.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::start_program_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

/// A finished run "a" of twelve steps.
class Started : public Program {
 public:
  explicit Started(const std::string& name, const Words& more = {}) : Program("start_" + name) {
    write("base.toml", sweep_base);
    const Outcome outcome = run(train("a", more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  static Words train(const std::string& to, const Words& more = {}) {
    Words words = {"train", "base.toml", "--run", to};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  fs::path path(const std::string& name) const { return directory() / name; }
};

std::vector<core::Real> weights(const fs::path& checkpoint) {
  std::vector<core::Real> all;
  for (const auto& [name, array] : load_checkpoint(checkpoint).arrays)
    if (name.starts_with("params/"))
      all.insert(all.end(), array.values.begin(), array.values.end());
  return all;
}

TEST(Start, keeps_the_model_of_another_run_through_a_kill_before_the_first_checkpoint) {
  const Started program("init");
  const Words long_run = {"train.steps=100000", "train.eval_every=0", "train.checkpoint_every=0"};
  Words words = program.train("b", long_run);
  words.insert(words.end(), {"--init-from", "a"});
  const pid_t child = program.start(words);
  while (read_metrics(program.path("b/metrics.jsonl")).empty()) usleep(5000);
  kill(child, SIGKILL);
  program.wait(child);
  const double before = read_metrics(program.path("b/metrics.jsonl")).front().number("loss");
  EXPECT_EQ(weights(program.path("b/checkpoints/ckpt-00000000.h5")),
            weights(program.path("a/checkpoints/ckpt-00000012.h5")));
  const Outcome resumed = program.run({"train", "b", "--resume", "train.steps=3"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_metrics(program.path("b/metrics.jsonl")).front().number("loss"), before);
}

TEST(Start, takes_the_noted_model_where_it_was_killed_before_anything_was_saved) {
  const Started program("noted");
  fs::create_directories(program.path("b/checkpoints"));
  fs::copy_file(program.path("a/config.toml"), program.path("b/config.toml"));
  write_status({program.path("b")}, {.state = "running", .init_from = program.path("a").string()});
  const Outcome resumed = program.run({"train", "b", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("starting from the model of"), std::string::npos) << resumed.out;
}

TEST(Start, looks_at_init_from_and_the_prompt_before_it_deletes_or_makes_anything) {
  const Started program("fresh");
  const fs::path kept = program.path("a/checkpoints/ckpt-00000012.h5");
  for (const std::string source : {"nowhere", "a"}) {
    const Outcome outcome = program.run(program.train("a", {"--fresh", "--init-from", source}));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(fs::exists(kept)) << source;
  }
  const Outcome unfit =
      program.run(program.train("a", {"--fresh", "--init-from", "a/../a", "model.width=16"}));
  EXPECT_NE(unfit.code, 0);
  EXPECT_TRUE(fs::exists(kept));
  const Outcome prompt =
      program.run(program.train("c", {"sample.tokens=4", "sample.prompt=\u20ac"}));
  EXPECT_EQ(prompt.code, 2) << prompt.out;
  EXPECT_NE(prompt.err.find("sample.prompt"), std::string::npos) << prompt.err;
  EXPECT_FALSE(fs::exists(program.path("c")));
}

TEST(Start, a_resume_that_finds_no_checkpoints_refuses_and_keeps_the_metrics) {
  const Started program("lost");
  const std::string metrics = read_text(program.path("a/metrics.jsonl"));
  fs::rename(program.path("a/checkpoints"), program.path("away"));
  const Outcome lost = program.run({"train", "a", "--resume"});
  EXPECT_EQ(lost.code, 5) << lost.out << lost.err;
  EXPECT_NE(lost.err.find("Bring the checkpoints back"), std::string::npos) << lost.err;
  std::ofstream(program.path("a/checkpoints")) << "no folder";
  EXPECT_EQ(program.run({"train", "a", "--resume"}).code, 5);
  EXPECT_EQ(read_text(program.path("a/metrics.jsonl")), metrics);
}

TEST(Start, continue_begins_a_run_and_the_same_command_goes_on_with_it) {
  const Started program("continue");
  const Outcome began = program.run(program.train("b", {"--continue", "train.steps=5"}));
  EXPECT_EQ(began.code, 0) << began.err;
  EXPECT_EQ(began.out.find("resumed"), std::string::npos) << began.out;
  const Outcome went_on = program.run(program.train("b", {"--continue"}));
  EXPECT_EQ(went_on.code, 0) << went_on.err;
  EXPECT_NE(went_on.out.find("resumed step 5"), std::string::npos) << went_on.out;
  EXPECT_EQ(weights(program.path("b/checkpoints/ckpt-00000012.h5")),
            weights(program.path("a/checkpoints/ckpt-00000012.h5")));
  const Outcome both = program.run(program.train("b", {"--continue", "--fresh"}));
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("exclude each other"), std::string::npos) << both.err;
}

TEST(Start, a_lost_status_beside_checkpoints_can_be_resumed_and_is_not_deleted) {
  const Started program("status");
  fs::remove(program.path("a/status.json"));
  const Outcome fresh = program.run(program.train("a", {"--fresh"}));
  EXPECT_EQ(fresh.code, 2);
  EXPECT_NE(fresh.err.find("--resume"), std::string::npos) << fresh.err;
  EXPECT_EQ(program.run({"train", "a", "--resume", "train.steps=14"}).code, 0);
  EXPECT_EQ(read_status({program.path("a")}).state, "finished");
}

TEST(Start, finished_and_early_stopped_runs_stay_as_they_are_when_resumed) {
  const Words stopping = {"train.steps=400", "train.patience=2", "optim.lr=0.5",
                          "optim.weight_decay=0"};
  for (const Words& more : {Words{}, Words{"train.eval_batches=1"}, stopping}) {
    const Started program("again", more);
    const std::string metrics = read_text(program.path("a/metrics.jsonl"));
    const core::Index steps = read_status({program.path("a")}).step;
    EXPECT_EQ(steps < 400, more == stopping || steps == 12);
    fs::remove(program.path("a/checkpoints/best.json"));
    const Outcome again = program.run({"train", "a", "--resume"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(read_text(program.path("a/metrics.jsonl")), metrics);
    EXPECT_EQ(read_status({program.path("a")}).step, steps);
    EXPECT_TRUE(fs::exists(program.path("a/checkpoints/best.json")));
  }
}

TEST(Start, what_a_kill_left_beside_the_listed_checkpoints_is_cleared_by_the_next_resume) {
  const Started program("unlisted");
  const fs::path checkpoints = program.path("a/checkpoints");
  const std::string best = read_text(checkpoints / "best.json");
  const fs::path newest = checkpoints / "ckpt-00000012.h5";
  const std::vector<fs::path> left = {checkpoints / "ckpt-00000001.h5",
                                      checkpoints / "ckpt-00000013.h5",
                                      checkpoints / "ckpt-00000014.h5.1-0.tmp"};
  // As a kill between last.json and best.json leaves it, at the last save of a run.
  for (const fs::path& file : left) fs::copy_file(newest, file);
  std::ofstream(checkpoints / "best.json") << "[]";
  const Outcome resumed = program.run({"train", "a", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  for (const fs::path& file : left) EXPECT_FALSE(fs::exists(file)) << file;
  EXPECT_TRUE(fs::exists(newest));
  EXPECT_EQ(read_text(checkpoints / "best.json"), best);
  EXPECT_EQ(program.run({"ckpt", "verify", "a"}).code, 0);
}

TEST(Start, a_run_without_a_checkpoint_is_not_advised_to_be_deleted) {
  const Started program("none");
  fs::remove_all(program.path("a/checkpoints"));
  const Outcome outcome = program.run({"eval", "a"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(outcome.err.find("--fresh"), std::string::npos) << outcome.err;
}

TEST(Start, what_fails_at_its_start_is_not_called_running_and_a_refused_resume_changes_no_state) {
  const Started program("failing");
  const std::string finished = read_text(program.path("a/status.json"));
  const Outcome failed = program.run(program.train("b"), [] {
    const rlimit limit{1000, 1000};  // too little for the config, enough for the status
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(failed.code, 5) << failed.err;
  EXPECT_EQ(read_status({program.path("b")}).state, "failed");
  fs::rename(program.path("a/checkpoints"), program.path("away"));
  EXPECT_EQ(program.run({"train", "a", "--resume"}).code, 5);
  EXPECT_EQ(read_text(program.path("a/status.json")), finished);
}

}  // namespace
}  // namespace weft::experiments::start_program_test
