#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "experiments/sweep/plan.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::sweep_program_test {
namespace {

const char* const four_trials = R"(
base = "base.toml"
seeds = [1, 2]
[grid]
model.attention = ["dense", "local"]
)";

/// A learning rate of 1000 makes the loss infinite within a few steps.
const std::vector<std::string> failing = {"sweep", "s.toml", "optim.kind=sgd", "optim.clip=0"};

class SweepProgram : public Program {
 public:
  explicit SweepProgram(const std::string& name, const char* sweep = four_trials)
      : Program("sweep_" + name) {
    write("base.toml", sweep_base);
    write("s.toml", sweep);
  }

  /// The scores of a sweep's trials by their ids.
  std::map<std::string, std::string> scores(const std::string& folder) const {
    std::map<std::string, std::string> all;
    const SweepFiles files{directory() / folder};
    for (const PlannedTrial& trial : read_plan(files).trials)
      all[trial.id] = read_text(files.score(trial.id));
    return all;
  }
  static Index count(const std::string& text, const std::string& word) {
    Index n = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
    return n;
  }
};

TEST(SweepProgram, several_at_a_time_give_the_scores_of_one_after_the_other) {
  const SweepProgram program("jobs");
  const Outcome one = program.run({"sweep", "s.toml", "--dir", "one"});
  ASSERT_EQ(one.code, 0) << one.out << one.err;
  EXPECT_NE(one.out.find("4 trials = 2 model.attention x 2 seed: 0 done, 4 to run"),
            std::string::npos)
      << one.out;
  EXPECT_NE(one.out.find("same budget: train.steps = 12"), std::string::npos);
  EXPECT_NE(one.err.find("measuring 2 kinds of trials"), std::string::npos) << one.err;
  EXPECT_NE(one.out.find("estimate: about"), std::string::npos);
  EXPECT_EQ(one.out.find('\033'), std::string::npos) << "a file gets plain lines";
  const Outcome two = program.run({"sweep", "s.toml", "--dir", "two", "-j", "2"});
  ASSERT_EQ(two.code, 0) << two.out << two.err;
  EXPECT_EQ(program.scores("one"), program.scores("two"));
  const Outcome again = program.run({"sweep", "s.toml", "--dir", "one"});
  EXPECT_EQ(again.err.find("measuring"), std::string::npos) << "nothing is left to measure";
}

TEST(SweepProgram, waits_for_its_trials_though_the_starter_ignored_the_ends_of_children) {
  const SweepProgram program("ignored",
                             "base = 'base.toml'\n[grid]\nmodel.attention = ['dense', 'local']\n");
  const Outcome outcome = program.run({"sweep", "s.toml"}, [] {
    std::signal(SIGCHLD, SIG_IGN);
    alarm(60);  // it waited for ever
  });
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(program.scores("sweeps/s").size(), 2u);
}

TEST(SweepProgram, the_same_command_again_skips_what_is_finished) {
  const SweepProgram program("again");
  ASSERT_EQ(program.run({"sweep", "s.toml"}).code, 0);
  const Outcome again = program.run({"sweep", "s.toml"});
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.out.find(": 4 done\n"), std::string::npos) << again.out;
  EXPECT_EQ(again.out.find("done    "), std::string::npos) << again.out;
}

TEST(SweepProgram, a_killed_and_an_interrupted_sweep_end_in_the_same_scores) {
  const SweepProgram program("killed");
  const std::vector<std::string> longer = {"train.steps=60", "train.eval_every=30"};
  const auto words = [&](const std::string& folder) {
    std::vector<std::string> all = {"sweep", "s.toml", "--dir", folder, "-j", "2"};
    all.insert(all.end(), longer.begin(), longer.end());
    return all;
  };
  ASSERT_EQ(program.run(words("straight")).code, 0);
  const auto is_training = [&] {
    std::error_code none;
    for (const auto& run :
         std::filesystem::directory_iterator(program.directory() / "broken/trials", none))
      if (std::filesystem::exists(run.path() / "checkpoints/last.json")) return true;
    return false;
  };
  for (const int number : {SIGINT, SIGKILL}) {
    const pid_t child = program.start(words("broken"));
    for (int ms = 0; ms < 60'000 && !is_training(); ++ms) usleep(1000);
    usleep(20'000);
    kill(child, number);
    const Outcome outcome = program.wait(child);
    EXPECT_TRUE(outcome.code == 128 + number || outcome.code == 0) << outcome.out << outcome.err;
  }
  const Outcome last = program.run(words("broken"));
  ASSERT_EQ(last.code, 0) << last.out << last.err;
  EXPECT_EQ(program.scores("broken"), program.scores("straight"));
}

/// The environments of a process's children, as they were started.
std::string environments_of_children(pid_t process) {
  const std::string place =
      "/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children";
  std::istringstream children(read_text(place));
  std::string all;
  for (pid_t child = 0; children >> child;)
    all += read_text("/proc/" + std::to_string(child) + "/environ");
  return all;
}

TEST(SweepProgram, trials_do_not_take_the_place_of_the_sweep_in_a_parallel_program) {
  const SweepProgram program("launched");
  const pid_t sweep = program.start({"sweep", "s.toml", "train.steps=100000"}, [] {
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    setenv("PMIX_RANK", "0", 1);
    setenv("KEPT", "1", 1);
  });
  std::string found;
  for (int ms = 0; ms < 60'000 && found.find("WEFT_FAILURE_FILE=") == std::string::npos; ++ms) {
    usleep(1000);
    found = environments_of_children(sweep);
  }
  kill(sweep, SIGINT);
  program.wait(sweep);
  EXPECT_NE(found.find("KEPT=1"), std::string::npos) << found;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE=", "PMIX_RANK="})
    EXPECT_EQ(found.find(name), std::string::npos) << name;
}

TEST(SweepProgram, a_failed_trial_is_listed_left_alone_and_retried_on_demand) {
  const SweepProgram program("failed", R"(
base = "base.toml"
[grid]
optim.lr = [1e-3, 1000.0]
)");
  const Outcome first = program.run(failing);
  EXPECT_EQ(first.code, 1) << first.out << first.err;
  EXPECT_NE(first.out.find("DIVERGED  "), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("is not finite"), std::string::npos) << first.out;
  EXPECT_NE(
      first.out.find(
          "1 done, 1 diverged   retry with: weft sweep s.toml optim.kind=sgd optim.clip=0 --retry "
          "failed"),
      std::string::npos)
      << first.out;
  const Outcome again = program.run(failing);
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(again.out.find("DIVERGED  "), std::string::npos) << "it must not have run again";
  EXPECT_NE(again.out.find("is not finite"), std::string::npos) << again.out;
  std::vector<std::string> retrying = failing;
  retrying.insert(retrying.end(), {"--retry", "failed"});
  const Outcome retried = program.run(retrying);
  EXPECT_EQ(retried.code, 1);
  EXPECT_NE(retried.out.find("DIVERGED  "), std::string::npos) << retried.out;
}

TEST(SweepProgram, fail_fast_starts_nothing_more) {
  const SweepProgram program("fast", R"(
base = "base.toml"
[grid]
optim.lr = [1000.0, 1e-3, 2e-3]
)");
  std::vector<std::string> hasty = failing;
  hasty.push_back("--fail-fast");
  const Outcome outcome = program.run(hasty);
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("0 done, 1 diverged, 2 to run"), std::string::npos) << outcome.out;
}

TEST(SweepProgram, nothing_starts_when_the_last_trial_is_wrong) {
  const SweepProgram program("wrong", R"(
base = "base.toml"
[grid]
model.heads = [2, 3]
)");
  const Outcome outcome = program.run({"sweep", "s.toml"});
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("8 is not a multiple of 3 heads"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("in the trial model.heads = 3"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "sweeps"));
}

TEST(SweepProgram, a_dry_run_lists_the_trials_and_leaves_nothing_behind) {
  const SweepProgram program("dry");
  const Outcome outcome = program.run({"sweep", "s.toml", "--dry-run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(SweepProgram::count(outcome.out, "seed="), 4) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "sweeps"));
}

}  // namespace
}  // namespace weft::experiments::sweep_program_test
