// What asks a training to end, in the middle of work that takes long: it saves and ends at once.
#include <unistd.h>

#include <csignal>

#include "core/error.h"
#include "experiments/checkpoint/file.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::stopped_program_test {
namespace {

using Words = std::vector<std::string>;
namespace fs = std::filesystem;

class Stopped : public Program {
 public:
  explicit Stopped(const std::string& name) : Program("stopped_" + name) {
    write("base.toml", sweep_base);
  }
  fs::path path(const std::string& name) const { return directory() / name; }
  void wait_for(const std::string& file) const {
    std::error_code absent;
    while (fs::file_size(path(file), absent) == 0 || absent) usleep(2000);
  }
  /// What was saved can be read, and the run goes on from it.
  void expect_goes_on(const std::string& own, const Words& settings) const {
    EXPECT_EQ(run({"ckpt", "verify", own}).code, 0);
    EXPECT_EQ(read_status({path(own)}).state, "stopped");
    Words words = {"train", own, "--resume"};
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_status({path(own)}).state, "finished");
  }
};

TEST(Stopped, a_long_evaluation_is_given_up_for_a_signal_and_the_step_before_it_saved) {
  const Stopped program("evaluation");
  const Words train = {"train",
                       "base.toml",
                       "--run",
                       "a",
                       "train.eval_every=1",
                       "train.checkpoint_every=0",
                       "data.held_out=400000"};
  const pid_t child = program.start(train);
  program.wait_for("a/metrics.jsonl");  // step 1 is made, and its evaluation comes next
  usleep(100'000);
  kill(child, SIGTERM);
  const Outcome outcome = program.wait(child);
  EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
  EXPECT_NE(outcome.out.find("saved step 1 "), std::string::npos) << outcome.out;
  const auto records = read_metrics(program.path("a/metrics.jsonl"));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(records[0].has("validation_loss"));
  EXPECT_EQ(load_checkpoint(program.path("a/checkpoints/ckpt-00000001.h5")).step, 1);
}

TEST(Stopped, a_step_of_very_many_batches_is_given_up_for_a_signal) {
  const Stopped program("accumulate");
  ASSERT_EQ(program.run({"train", "base.toml", "--run", "a"}).code, 0);
  const pid_t child = program.start({"train", "base.toml", "--run", "b", "--init-from", "a",
                                     "train.accumulate=100000", "train.checkpoint_every=0"});
  program.wait_for("b/checkpoints/last.json");  // step 0 is saved, and the first step begins
  usleep(100'000);
  kill(child, SIGTERM);
  const Outcome outcome = program.wait(child);
  EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
  EXPECT_TRUE(read_metrics(program.path("b/metrics.jsonl")).empty()) << "no step was made";
  EXPECT_EQ(read_status({program.path("b")}).state, "stopped");
  const Outcome kept = program.run({"train", "base.toml", "--run", "c", "--init-from", "b"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(load_checkpoint(program.path("b/checkpoints/ckpt-00000000.h5"))
                .arrays.at("params/tokens.weight")
                .values,
            load_checkpoint(program.path("a/checkpoints/ckpt-00000012.h5"))
                .arrays.at("params/tokens.weight")
                .values);
}

TEST(Stopped, a_reader_that_closes_its_pipe_ends_the_training_with_its_steps_saved) {
  const Stopped program("pipe");
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = program.start({"train", "base.toml", "--run", "a", "train.steps=1000000",
                                     "train.eval_every=1", "train.checkpoint_every=0"},
                                    [&] {
                                      signal(SIGPIPE, SIG_DFL);
                                      dup2(ends[1], STDOUT_FILENO);
                                      close(ends[0]);
                                      close(ends[1]);
                                    });
  close(ends[1]);
  program.wait_for("a/metrics.jsonl");
  close(ends[0]);
  const Outcome outcome = program.wait(child);
  EXPECT_EQ(outcome.code, 128 + SIGPIPE) << outcome.err;
  const RunStatus status = read_status({program.path("a")});
  EXPECT_EQ(status.saved, status.step);
  EXPECT_GE(status.step, 1);
  program.expect_goes_on("a", {core::message_of("train.steps=", status.step + 2)});
}

}  // namespace
}  // namespace weft::experiments::stopped_program_test
