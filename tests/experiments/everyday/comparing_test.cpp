// What users meet before and after a comparison: how long it will take, what it compares and how
// far its verdict can be trusted. The numbers are those of the papercuts and expectations that were
// found when weft was tried as a new user would.
#include <sys/wait.h>

#include "experiments/sweep/estimate.h"
#include "experiments/sweep/file.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::comparing_test {
namespace {

using Words = std::vector<std::string>;

class Comparing : public Program {
 public:
  Comparing(const std::string& name, const std::string& sweep, const std::string& base = sweep_base)
      : Program("everyday_" + name) {
    write("base.toml", base);
    write("s.toml", "base = \"base.toml\"\n" + sweep);
  }
  /// What each trial is expected to take.
  std::vector<PlannedTrial> plan(const std::string& sweep = "s.toml") const {
    const SweepFile file = SweepFile::load(directory() / sweep);
    const std::vector<Trial> trials = trials_of(file, {});
    return plan_trials(trials, std::vector<bool>(trials.size(), true), 1, file.eval_tokens);
  }
};

TEST(Row4, a_verdict_says_what_speaks_against_it) {
  const Comparing program("verdict", R"(
seeds = 3
[grid]
model.attention = ["dense", "linear"]
optim.lr = [1e-3, 4e-3]
)");
  ASSERT_EQ(program
                .run({"sweep", "s.toml", "train.steps=200", "train.eval_every=25",
                      "train.checkpoint_every=1000"})
                .code,
            0);
  const Outcome report = program.run({"report", "sweeps/s", "-o", "r.html,r.md"});
  ASSERT_EQ(report.code, 0) << report.err;
  // Two hundred steps are too few at a rate that is the largest tried.
  const Words doubts = {
      "lr at the edge: 0.004 is the largest tried and the choice of every row; "
      "try 0.012",
      "curves still falling"};
  expect_holds(report.out, doubts);
  expect_holds(report.out, {" 95 % interval by a paired t test", " ± "});
  for (const char* const file : {"r.html", "r.md"})
    expect_holds(read_text(program.directory() / file), doubts);
  // Whatever came out, it is said whether seeds explain it.
  const auto says = [&](const char* text) { return report.out.find(text) != std::string::npos; };
  EXPECT_TRUE((says("Best: ") && says(" more than seeds explain")) ||
              says("Undecided: ahead is ") || says("A tie: ahead is "))
      << report.out;
}

TEST(Row5, a_plan_prints_each_row_when_it_is_known_and_the_time_of_all) {
  const Comparing program("plan", "[grid]\noptim.lr = [1e-3]\n");
  const Outcome both = program.run({"plan", "base.toml", "--vary", "data.length=16,32"});
  ASSERT_EQ(both.code, 0) << both.err;
  expect_holds(both.out, {"training", "length=16", "length=32",
                          "one after the other: ", " of training, without validations"});
  const Outcome minutes = program.run({"plan", "base.toml", "train.minutes=90"});
  expect_holds(minutes.out, {"1h30m"});
  // The second of these takes minutes; the first is there long before.
  const pid_t child =
      program.start({"plan", "base.toml", "--vary", "data.length=16,16k", "train.batch=16"});
  std::string out;
  int ended = 0;
  while (out.find("length=16 ") == std::string::npos) {
    ASSERT_EQ(waitpid(child, &ended, WNOHANG), 0) << "ended before its first row";
    usleep(5000);
    out = read_text(program.directory() / "out.txt");
  }
  EXPECT_EQ(out.find("length=16384 "), std::string::npos);
  EXPECT_EQ(waitpid(child, &ended, WNOHANG), 0);
  kill(child, SIGKILL);
  waitpid(child, &ended, 0);
}

TEST(Row5, a_sweep_given_as_a_config_names_the_command_for_sweeps) {
  const Comparing program("plan_sweep", "[grid]\noptim.lr = [1e-3, 3e-3]\n");
  for (const std::string verb : {"plan", "train"}) {
    const Outcome outcome = program.run({verb, "s.toml"});
    EXPECT_EQ(outcome.code, 2);
    expect_holds(outcome.err, {"s.toml is a sweep", "weft sweep s.toml", "--dry-run"});
  }
}

TEST(Row11, two_rows_that_compute_the_same_are_named_before_a_sweep) {
  const Comparing program("same", R"(
seeds = 2
[grid]
model.attention = ["dense", "local", "linear"]
)");
  const std::string same =
      "warning: attention=local computes what attention=dense does (the same parameters, "
      "arithmetic and first step): they are one system under two names\n";
  const Outcome dry = program.run({"sweep", "s.toml", "--dry-run"});
  ASSERT_EQ(dry.code, 0) << dry.err;
  expect_holds(dry.out, {same});
  EXPECT_EQ(dry.out.find("linear computes"), std::string::npos) << dry.out;
  // A window of 4 is another system than all 16 tokens.
  const Outcome narrow = program.run({"sweep", "s.toml", "--dry-run", "attention.local.window=4"});
  ASSERT_EQ(narrow.code, 0) << narrow.err;
  EXPECT_EQ(narrow.out.find("warning"), std::string::npos) << narrow.out;
}

TEST(Row11, lengths_at_which_rows_are_the_same_are_named) {
  const Comparing program("same_length", R"(
[grid]
model.attention = ["dense", "local"]
data.length = [16, 64]
)");
  const Outcome dry = program.run({"sweep", "s.toml", "--dry-run", "attention.local.window=16"});
  ASSERT_EQ(dry.code, 0) << dry.err;
  expect_holds(dry.out, {"attention=dense does with length=16 ("});
  EXPECT_EQ(dry.out.find("with length=64"), std::string::npos) << dry.out;
}

TEST(Papercut6, an_estimate_counts_the_scoring_of_a_large_split) {
  const Comparing program("estimate", "[grid]\noptim.lr = [1e-3, 3e-3]\n");
  program.write("large.toml", std::string("include = [\"base.toml\"]\ndata.held_out = 20000\n"));
  program.write("l.toml",
                "base = \"large.toml\"\n[grid]\noptim.lr = [1e-3, 3e-3]\n[eval]\ntokens = 160\n");
  program.write("m.toml", "base = \"large.toml\"\n[grid]\noptim.lr = [1e-3, 3e-3]\n");
  for (const PlannedTrial& trial : program.plan("m.toml")) {
    EXPECT_GT(trial.scoring_seconds, 0);
    // Beside 20,000 sequences, which are scored once and validated four times, 12 steps of two are
    // nothing.
    EXPECT_GT(trial.scoring_seconds, 0.15 * trial.seconds);
    EXPECT_GT(trial.seconds, 4 * trial.scoring_seconds);
  }
  // What limits scoring limits its estimate.
  EXPECT_LT(program.plan("l.toml")[0].scoring_seconds,
            0.1 * program.plan("m.toml")[0].scoring_seconds);
  const Outcome dry = program.run({"sweep", "s.toml", "--dry-run"});
  expect_holds(dry.out, {"validations and scores included"});
}

}  // namespace
}  // namespace weft::experiments::comparing_test
