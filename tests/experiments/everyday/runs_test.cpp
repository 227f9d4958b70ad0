// Many runs, kept in order: weft runs.
#include <sys/inotify.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/checkpoint/store.h"
#include "experiments/run/run_files.h"
#include "experiments/runs/removal.h"
#include "experiments/runs/run_list.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::runs_test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Finished runs "runs/a" and "runs/b", which differ in their learning rate.
class TwoRuns : public Program {
 public:
  explicit TwoRuns(const std::string& name) : Program("runs_" + name) {
    write("base.toml", sweep_base);
    EXPECT_EQ(run({"train", "base.toml", "--run", "runs/a"}).code, 0);
    EXPECT_EQ(run({"train", "base.toml", "--run", "runs/b", "optim.lr=1e-3"}).code, 0);
  }
  fs::path path(const std::string& name) const { return directory() / name; }
};

/// How many checkpoints were opened in a folder since the watch began.
class OpenCounter {
 public:
  explicit OpenCounter(const fs::path& folder) : queue_(inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(inotify_add_watch(queue_, folder.c_str(), IN_OPEN), 0);
  }
  ~OpenCounter() { ::close(queue_); }

  int count() const {
    alignas(inotify_event) char buffer[4096];
    int opened = 0;
    for (ssize_t size; (size = ::read(queue_, buffer, sizeof buffer)) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        opened += event->len > 0 && std::string_view(event->name).ends_with(".h5");
        at += ssize_t(sizeof(inotify_event) + event->len);
      }
    return opened;
  }

 private:
  int queue_;
};

TEST(Row6, runs_are_listed_with_state_step_best_and_size_without_opening_a_checkpoint) {
  const TwoRuns program("list");
  const OpenCounter opened(program.path("runs/a/checkpoints"));
  const Outcome outcome = program.run({"runs"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "finished  12")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "runs/b")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "2 runs, ")) << outcome.out;
  EXPECT_EQ(opened.count(), 0);
  const RunSummary a = summarise_run(program.path("runs/a"));
  ASSERT_TRUE(a.best.has_value());
  const CheckpointStore store(program.path("runs/a/checkpoints"), 9, 9);
  EXPECT_EQ(*a.best, *store.best().front().validation);
  EXPECT_GT(a.bytes, 10'000);
  EXPECT_EQ(program.run({"eval", "runs/a"}).code, 0);
  EXPECT_GT(opened.count(), 0);  // the counter counts
}

TEST(Row6, two_runs_are_compared_by_the_settings_that_differ) {
  const TwoRuns program("diff");
  const Outcome outcome = program.run({"runs", "diff", "runs/a", "runs/b"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "optim.lr")) << outcome.out;
  EXPECT_FALSE(has(outcome.out, "model.width")) << outcome.out;
}

TEST(Row6, deleting_asks_first_and_takes_old_runs_alone) {
  const TwoRuns program("rm");
  program.write("runs/b/notes.txt", "mine");
  program.write("no", "no\n");
  program.write("yes", "y\n");
  const auto answer = [&](const std::string& file) {
    return [&program, file] {
      if (!freopen(program.path(file).c_str(), "r", stdin)) _exit(126);
    };
  };
  const Outcome none = program.run({"runs", "rm", "runs", "--older", "7d", "--yes"});
  EXPECT_TRUE(has(none.out, "nothing to delete")) << none.out;
  EXPECT_EQ(program.run({"runs", "rm", "runs"}).code, 2);  // no run, and no age
  EXPECT_EQ(program.run({"runs", "rm", "runs", "--older", "0s"}, answer("no")).code, 1);
  EXPECT_TRUE(fs::exists(program.path("runs/a/status.json")));
  const Outcome outcome = program.run({"runs", "rm", "runs", "--older", "0s"}, answer("yes"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "delete 2 runs")) << outcome.out;
  EXPECT_FALSE(fs::exists(program.path("runs/a")));
  EXPECT_EQ(read_text(program.path("runs/b/notes.txt")), "mine");
  EXPECT_FALSE(fs::exists(program.path("runs/b/status.json")));
}

TEST(Row6, a_live_run_is_never_touched) {
  const Program program("runs_live");
  program.write("base.toml", sweep_base);
  const pid_t child = program.start({"train", "base.toml", "--run", "r", "train.steps=100000"});
  while (!fs::exists(program.directory() / "r/metrics.jsonl")) usleep(5000);
  EXPECT_EQ(summarise_run(program.directory() / "r").state, "running");
  const Outcome outcome = program.run({"runs", "rm", "r", "--yes"});
  EXPECT_TRUE(has(outcome.out, "left alone")) << outcome.out;
  EXPECT_EQ(remove_run(program.directory() / "r"), Removal::in_use);
  EXPECT_FALSE(slim_run(program.directory() / "r").has_value());
  EXPECT_TRUE(fs::exists(program.directory() / "r/status.json"));
  kill(child, SIGKILL);
  program.wait(child);
  EXPECT_EQ(summarise_run(program.directory() / "r").state, "killed");
  // The file alone says as much: it runs, in a process that is gone.
  const auto status = nlohmann::json::parse(read_text(program.directory() / "r/status.json"));
  EXPECT_EQ(status["state"], "running");
  EXPECT_EQ(status["pid"], child);
  EXPECT_EQ(kill(child, 0), -1);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  EXPECT_EQ(status["host"], std::string(host));
}

TEST(Row7, a_run_that_no_longer_runs_names_no_process) {
  const TwoRuns program("ended");
  const auto status = nlohmann::json::parse(read_text(program.path("runs/a/status.json")));
  EXPECT_EQ(status["state"], "finished");
  EXPECT_FALSE(status.contains("pid"));
}

TEST(Row6, a_slim_run_is_scored_the_same_and_starts_others_but_is_not_resumed) {
  const TwoRuns program("slim");
  const std::string before = program.run({"eval", "runs/a", "--json"}).out;
  const core::Index bytes = summarise_run(program.path("runs/a")).bytes;
  const Outcome outcome = program.run({"runs", "slim", "runs/a"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(summarise_run(program.path("runs/a")).bytes, bytes);
  EXPECT_EQ(program.run({"eval", "runs/a", "--json"}).out, before);
  EXPECT_EQ(program.run({"ckpt", "verify", "runs/a"}).code, 0);
  const Outcome resumed = program.run({"train", "runs/a", "train.steps=14"});
  EXPECT_EQ(resumed.code, 5);
  EXPECT_TRUE(has(resumed.err, "--init-from")) << resumed.err;
  EXPECT_EQ(program.run({"train", "base.toml", "--run", "c", "--init-from", "runs/a"}).code, 0);
}

TEST(Row6, ages_are_read_as_people_write_them) {
  EXPECT_EQ(parse_age("7d"), 7 * 86400.0);
  EXPECT_EQ(parse_age("12h"), 12 * 3600.0);
  for (const char* wrong : {"7", "d", "-1d", "7 days", ""})
    EXPECT_THROW(parse_age(wrong), core::Error) << wrong;
}

}  // namespace
}  // namespace weft::experiments::runs_test
