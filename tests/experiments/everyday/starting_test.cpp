// What a user meets when a run is started, stopped and continued. The numbers are those of the
// papercuts and expectations that were found when weft was tried as a new user would.
#include <csignal>

#include "core/files/durable_file.h"
#include "experiments/config/describing.h"
#include "experiments/run/run_config.h"
#include "experiments/run/run_files.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::starting_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The tiny model of sweeps in a directory of its own.
class Everyday : public Program {
 public:
  explicit Everyday(const std::string& name, const std::string& base = sweep_base)
      : Program("everyday_" + name) {
    write("base.toml", base);
  }
  fs::path path(const std::string& name) const { return directory() / name; }
  /// Trains until the first step is measured, then sends a signal.
  Outcome stop_with(int signal, const std::string& run_name) const {
    const pid_t child = start({"train", "base.toml", "--run", run_name, "train.steps=100000",
                               "train.eval_every=0", "train.checkpoint_every=0"},
                              [] { ::signal(SIGHUP, SIG_DFL); });
    while (!fs::exists(path(run_name) / "metrics.jsonl") ||
           fs::file_size(path(run_name) / "metrics.jsonl") == 0)
      usleep(5000);
    kill(child, signal);
    return wait(child);
  }
};

/// How a config that sets nothing resolves its top sections.
std::map<std::string, std::string> defaults() {
  return RunConfig::read(ConfigTree()).resolved.values();
}

TEST(Papercut1, the_key_reference_gives_the_default_that_holds) {
  const auto values = defaults();
  std::size_t compared = 0;
  for (const auto& [section, keys] : describe_sections())
    for (const FieldDescription& field : keys) {
      const auto found = values.find(join_path(section, field.key));
      if (found == values.end() || !field.conditions.empty()) continue;
      EXPECT_EQ(field.fallback, found->second) << found->first;
      ++compared;
    }
  EXPECT_EQ(values.at("optim.schedule"), "\"constant\"");
  EXPECT_GT(compared, 30u);
}

TEST(Row10, a_warmup_below_one_is_a_share_of_the_steps) {
  const Everyday program("share", "[train]\nsteps = 240\n[optim]\nwarmup = 0.1\n");
  const auto resolved = [&](const Words& more) {
    Words words = {"config", "base.toml"};
    words.insert(words.end(), more.begin(), more.end());
    return program.run(words);
  };
  EXPECT_TRUE(has(resolved({}).out, "warmup = 24 ")) << resolved({}).out;
  EXPECT_TRUE(has(resolved({"train.steps=1k"}).out, "warmup = 102 "));
  EXPECT_TRUE(has(resolved({"optim.warmup=0.5"}).out, "warmup = 120 "));
  const Outcome tokens = resolved({"train.tokens=100k"});
  EXPECT_EQ(tokens.code, 2) << "how many steps that is, is known later";
  EXPECT_TRUE(has(tokens.err, "optim.warmup")) << tokens.err;
  // The share is another way to write the number: the run is the same.
  program.write("counted.toml", "[train]\nsteps = 240\n[optim]\nwarmup = 24\n");
  EXPECT_EQ(RunConfig::load(program.path("base.toml"), {}).identity(),
            RunConfig::load(program.path("counted.toml"), {}).identity());
}

TEST(Papercut4, a_closed_terminal_saves_and_stops) {
  const Everyday program("hangup");
  EXPECT_EQ(program.stop_with(SIGHUP, "r").code, 128 + SIGHUP);
  const RunStatus status = read_status({program.path("r")});
  EXPECT_EQ(status.state, "stopped");
  EXPECT_EQ(status.reason, "SIGHUP");
  EXPECT_GT(status.saved, 0);
  EXPECT_EQ(status.saved, status.step);
}

TEST(Row7, a_killed_run_is_not_running_and_keeps_its_log) {
  const Everyday program("killed");
  program.stop_with(SIGKILL, "r");
  const RunFiles files{program.path("r")};
  EXPECT_EQ(read_status(files).state, "running");
  EXPECT_EQ(state_now(files, read_status(files)), "killed");
  const std::string log = read_text(files.log());
  EXPECT_TRUE(has(log, "weft train base.toml")) << log;
  EXPECT_TRUE(has(log, "step ")) << log;
  EXPECT_FALSE(has(log, "\033")) << log;
  const Outcome again = program.run({"train", "base.toml", "--run", "r"});
  EXPECT_TRUE(has(again.err, "(killed, step")) << again.err;
}

TEST(Row7, a_run_that_trains_is_running) {
  const Everyday program("alive");
  const pid_t child = program.start({"train", "base.toml", "--run", "r", "train.steps=100000"});
  while (!fs::exists(program.path("r/metrics.jsonl"))) usleep(5000);
  const RunFiles files{program.path("r")};
  EXPECT_EQ(state_now(files, read_status(files)), "running");
  kill(child, SIGKILL);
  program.wait(child);
}

TEST(Papercut9, a_second_run_is_not_called_a_setting) {
  const Everyday program("glob");
  for (const std::string run : {"a", "b"})
    ASSERT_EQ(program.run({"train", "base.toml", "--run", run, "train.steps=1"}).code, 0);
  const Outcome outcome = program.run({"eval", "a", "b"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome.err, "\"b\" is a file or directory")) << outcome.err;
  EXPECT_FALSE(has(outcome.err, "no setting")) << outcome.err;
}

TEST(Papercut10, a_budget_of_the_command_line_replaces_that_of_the_file) {
  const Everyday program("budget", "[optim]\nwarmup = 100\n[train]\ntokens = 5000000\n");
  const RunConfig steps = RunConfig::load(program.path("base.toml"), {"train.steps=20"});
  EXPECT_EQ(steps.train.steps, 20);
  EXPECT_EQ(steps.train.tokens, 0);
  EXPECT_EQ(steps.optim.warmup, 2);
  ASSERT_EQ(steps.remarks.size(), 1u);
  EXPECT_TRUE(has(steps.remarks[0], "optim.warmup = 2, not 100")) << steps.remarks[0];
  const RunConfig minutes = RunConfig::load(program.path("base.toml"), {"train.minutes=1"});
  EXPECT_EQ(minutes.train.minutes, 1);
  EXPECT_EQ(minutes.train.tokens, 0);
  EXPECT_TRUE(minutes.remarks.empty());
  EXPECT_THROW(RunConfig::load(program.path("base.toml"), {"train.minutes=1", "train.steps=20"}),
               core::Error);
}

TEST(Row10, a_smoke_test_trains_a_few_steps_of_anything) {
  const Everyday program("smoke",
                         "[data]\nlength = 16\nheld_out = 8\n[model]\nlayers = 1\nwidth = "
                         "8\nheads = 2\n[optim]\nwarmup = 100\n[train]\ntokens = 5000000\n"
                         "batch = 2\n[sample]\ntokens = 4\n");
  for (int again = 0; again < 2; ++again) {
    const Outcome outcome = program.run({"train", "base.toml", "--smoke"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "saved step 8")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "sample")) << outcome.out;
  }
  const RunFiles files{program.path("runs/base-smoke")};
  EXPECT_EQ(read_status(files).step, 8);
  EXPECT_EQ(read_status(files).state, "finished");
  const Outcome of_a_run = program.run({"train", "runs/base-smoke", "--smoke", "train.steps=2"});
  EXPECT_EQ(of_a_run.code, 0) << of_a_run.err;
  EXPECT_EQ(read_status({program.path("runs/base-smoke-smoke")}).step, 2);
}

TEST(Papercut12, kilo_works_wherever_a_count_is_written) {
  const Everyday program("kilo");
  const std::string base = program.path("base.toml");
  const RunConfig config = RunConfig::load(
      base, {"data.length=1k", "train.steps=2k", "train.checkpoint_every=1k", "optim.lr=0.1"});
  EXPECT_EQ(config.data.length, 1024);
  EXPECT_EQ(config.train.steps, 2048);
  EXPECT_EQ(config.train.checkpoint_period().steps, 1024);
  EXPECT_EQ(config.resolved.value_of("data.length"), "1024");
  program.write("file.toml", "include = \"base.toml\"\ndata.length = \"1k\"\n");
  EXPECT_EQ(RunConfig::load(program.path("file.toml")).data.length, 1024);
  const Outcome bigbird =
      program.run({"config", "base.toml", "data.length=1x", "model.attention=bigbird"});
  EXPECT_TRUE(has(bigbird.err, "1 problem in the configuration")) << bigbird.err;
}

TEST(Papercut14, a_run_directory_is_continued_without_resume) {
  const Everyday program("continue");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "r"}).code, 0);
  const Outcome more = program.run({"train", "r", "train.steps=16"});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_TRUE(has(more.out, "resumed step 12")) << more.out;
  EXPECT_EQ(read_status({program.path("r")}).step, 16);
}

TEST(Row12, what_cannot_change_on_resume_names_the_way_that_works) {
  const Everyday program("changed");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "r"}).code, 0);
  const Outcome refused = program.run({"train", "r", "optim.lr=1e-3", "train.steps=16"});
  EXPECT_EQ(refused.code, 2);
  ASSERT_TRUE(has(refused.err, "--run DIR --init-from r")) << refused.err;
  const Outcome taken = program.run(
      {"train", "r", "optim.lr=1e-3", "train.steps=16", "--run", "new", "--init-from", "r"});
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_TRUE(has(taken.out, "starting from the model of")) << taken.out;
}

}  // namespace
}  // namespace weft::experiments::starting_test
