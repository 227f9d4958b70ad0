#include <algorithm>
#include <csignal>

#include "experiments/report/trial_record.h"
#include "experiments/sweep/turns.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::tune_program_test {
namespace {

/// Two arms, four learning rates of which the last diverges at once, halved twice.
const char* const tuned = R"(
base = "base.toml"
seeds = [1, 2]
[grid]
model.attention = ["dense", "linear"]
[tune]
optim.lr = [1e-3, 3e-3, 1e-2, 3e-2]
keep = 2
budget = 1
)";

class TuneProgram : public Program {
 public:
  explicit TuneProgram(const std::string& name, const std::string& sweep = tuned)
      : Program("tune_" + name) {
    write("base.toml", sweep_base);
    write("s.toml", sweep);
  }
  std::string tables(const std::string& sweep) const {
    const Outcome outcome = run({"report", sweep, "-o", sweep + ".md," + sweep + ".csv"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::string all;
    for (const char* const ending : {".md", ".csv", "-pairs.csv", "-tuning.csv"})
      all += read_text(directory() / (sweep + ending));
    return all;
  }
};

TEST(TuneProgram, every_arm_keeps_what_the_rule_says_and_trains_its_seeds_with_the_best) {
  const TuneProgram program("rule");
  const Outcome outcome = program.run({"sweep", "s.toml", "--dir", "a"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("16 trials of 2 model.attention x 4 optim.lr x 2 seed; each arm tunes "
                             "optim.lr: 4 candidates with 12 % of the budget, 2 candidates with "
                             "25 % of the budget, then its seeds with all of it"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("attention=dense: rung 2 of 2, 2 candidates"), std::string::npos);
  const SweepRecord record = read_sweep(program.directory() / "a");
  EXPECT_EQ(record.rungs.size(), 2u * (4 + 2));
  EXPECT_EQ(record.trials.size(), 2u * 2);
  for (Index arm = 0; arm < 2; ++arm) {
    std::vector<double> losses[2];
    std::vector<Index> candidates[2];
    for (const TrialRecord& trial : record.rungs)
      if (trial.plan.stage.arm == arm) {
        EXPECT_EQ(trial.plan.steps, trial.plan.stage.rung == 0 ? 2 : 3) << "an eighth, a quarter";
        losses[trial.plan.stage.rung].push_back(trial.last_validation);
        candidates[trial.plan.stage.rung].push_back(trial.plan.stage.candidate);
      }
    std::vector<Index> kept;
    for (const std::size_t i : kept_candidates(losses[0], 2)) kept.push_back(candidates[0][i]);
    EXPECT_EQ(candidates[1], kept);
    const Index best = candidates[1][kept_candidates(losses[1], 1)[0]];
    for (const TrialRecord& trial : record.trials)
      if (trial.plan.stage.arm == arm) {
        EXPECT_EQ(trial.plan.stage.candidate, best);
        EXPECT_EQ(trial.plan.steps, 12);
      }
  }
  const Outcome report = program.run({"report", "a"});
  EXPECT_NE(report.out.find("what each tried"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("dropped after rung 1"), std::string::npos) << report.out;
}

TEST(TuneProgram, candidates_of_an_open_rung_are_undecided_and_marked) {
  const TuneProgram program("open");
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "a"}).code, 0);
  EXPECT_EQ(program.tables("a").find("undecided \\*"), std::string::npos);
  EXPECT_EQ(program.tables("a").find(",yes\n"), std::string::npos) << "nothing can change";
  for (const TrialRecord& trial : read_sweep(program.directory() / "a").rungs)
    if (trial.plan.stage.arm == 0 && trial.plan.stage.rung == 1) {
      std::filesystem::remove_all(program.directory() / "a/trials" / trial.plan.id);
      break;
    }
  const std::string tables = program.tables("a");
  const auto occurrences = [](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(occurrences(tables, "| undecided \\* |"), 2u) << "both candidates: " << tables;
  EXPECT_EQ(occurrences(tables, "| chosen |\n"), 1u) << "the other arm is tuned: " << tables;
  EXPECT_EQ(occurrences(read_text(program.directory() / "a-tuning.csv"), ",undecided,yes\n"),
            2u * 2)
      << "in both rungs";
  EXPECT_EQ(occurrences(tables, "dropped after rung 1 \\*"), 0u);
  EXPECT_EQ(occurrences(tables, "no candidate came through"), 0u) << tables;
  EXPECT_GE(occurrences(tables, "| dense \\* |"), 1u) << "its numbers are still to come";
}

TEST(TuneProgram, a_sweep_killed_again_and_again_ends_in_the_same_tables_byte_for_byte) {
  const TuneProgram program("killed");
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "straight"}).code, 0);
  int kills = 0;
  for (int pause = 30; pause < 200; pause += 40) {
    const pid_t child = program.start({"sweep", "s.toml", "--dir", "broken", "-j", "2"});
    const auto ended = [&] {
      std::error_code none;
      std::ptrdiff_t runs = 0;
      for (const auto& entry :
           std::filesystem::directory_iterator(program.directory() / "broken/trials", none))
        runs += entry.is_directory();
      return runs;
    };
    const std::ptrdiff_t before = ended();
    for (int ms = 0; ms < 20'000 && ended() <= before; ++ms) usleep(1000);
    usleep(useconds_t(1000 * pause));
    kill(child, SIGKILL);
    kills += program.wait(child).code == 128 + SIGKILL;
  }
  EXPECT_GE(kills, 2);
  const Outcome last = program.run({"sweep", "s.toml", "--dir", "broken"});
  ASSERT_EQ(last.code, 0) << last.out << last.err;
  std::string broken = program.tables("broken");
  for (std::size_t at = 0; (at = broken.find("broken", at)) != std::string::npos;)
    broken.replace(at, 6, "straight");
  EXPECT_EQ(broken, program.tables("straight"));
}

TEST(TuneProgram, a_dry_run_lists_the_open_rung_and_what_follows) {
  const TuneProgram program("dry");
  const Outcome outcome = program.run({"sweep", "s.toml", "--dry-run"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("(rung 1)"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("(rung 2)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("and later 8 more, about"), std::string::npos) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "sweeps"));
}

TEST(TuneProgram, the_status_names_the_rung_of_each_arm) {
  const TuneProgram program("status");
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "a"}).code, 0);
  const Outcome outcome = program.run({"sweep", "s.toml", "--dir", "a", "--status"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("attention=linear: tuned"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("16 trials: 16 done"), std::string::npos) << outcome.out;
}

TEST(TuneProgram, what_cannot_be_tuned_is_refused_before_anything_starts) {
  const auto refused = [](const std::string& name, const std::string& sweep) {
    const TuneProgram program(name, "base = \"base.toml\"\nseeds = 2\n" + sweep);
    const Outcome outcome = program.run({"sweep", "s.toml"});
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_FALSE(std::filesystem::exists(program.directory() / "sweeps"));
    return outcome.err;
  };
  EXPECT_NE(refused("range", "[tune]\noptim.lr = { log = [1e-3, 1e-2] }\n").find("needs trials"),
            std::string::npos);
  EXPECT_NE(refused("value", "[tune]\noptim.lr = 1e-3\ntrials = 4\n").find("must be a range"),
            std::string::npos);
  EXPECT_NE(refused("key", "[tune]\noptim.lrr = [1e-3, 2e-3]\n").find("did you mean optim.lr?"),
            std::string::npos);
  EXPECT_NE(refused("budget", "[tune]\noptim.lr = [1e-3, 2e-3]\nbudget = 9\n")
                .find("more than 2 candidates can use"),
            std::string::npos);
  EXPECT_NE(refused("twice", "[grid]\noptim.lr = [1e-3, 2e-3]\n[tune]\noptim.lr = [1e-3, 4e-3]\n")
                .find("varied in two places"),
            std::string::npos);
}

TEST(PruneProgram, what_is_far_behind_gets_no_further_seed_and_the_tables_say_so) {
  const TuneProgram program("prune", R"(
base = "base.toml"
seeds = [1, 2, 3]
[grid]
optim.lr = [3e-3, 1e-9]
[prune]
after = 1
behind = 0.001
)");
  const Outcome run = program.run({"sweep", "s.toml", "--dir", "a", "train.steps=60"});
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("2 pruned"), std::string::npos) << run.out;
  const Outcome report = program.run({"report", "a"});
  EXPECT_NE(report.out.find("pruned: too far behind, 2 not run"), std::string::npos) << report.out;
}

TEST(EvalTokens, the_same_tokens_are_scored_for_every_trial_and_said_beside_the_score) {
  const TuneProgram program("tokens", R"(
base = "base.toml"
[grid]
model.attention = ["dense", "linear"]
)");
  ASSERT_EQ(program.run({"sweep", "s.toml", "--dir", "a"}).code, 0);
  program.write("t.toml",
                "base = \"base.toml\"\n[grid]\nmodel.attention = [\"dense\", \"linear\"]\n"
                "[eval]\ntokens = 40\n");
  const Outcome again = program.run({"sweep", "t.toml", "--dir", "a"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("2 to run"), std::string::npos)
      << "scores of another budget: " << again.out;
  const SweepFiles files{program.directory() / "a"};
  for (const PlannedTrial& trial : read_plan(files).trials) {
    const std::string score = read_text(files.score(trial.id));
    EXPECT_NE(score.find("\"budget\": 40"), std::string::npos) << score;
    // Three sequences of 16 pay for 40 tokens.
    EXPECT_NE(score.find("\"tokens\": 48"), std::string::npos) << score;
  }
  const Outcome report = program.run({"report", "a"});
  EXPECT_NE(report.out.find("scored on the first 40 tokens of test, the same for all"),
            std::string::npos)
      << report.out;
  const Outcome eval =
      program.run({"eval", files.run(read_plan(files).trials[0].id).string(), "--tokens", "32"});
  EXPECT_NE(eval.out.find("scored: the first 32 tokens of the split"), std::string::npos)
      << eval.out;
}

TEST(EqualProgram, is_checked_before_anything_starts_and_shown) {
  const TuneProgram program("equal", R"(
base = "base.toml"
equal = "parameters"
seeds = [1]
[grid]
model.width = [8, 16]
)");
  const Outcome refused = program.run({"sweep", "s.toml"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_NE(refused.err.find("equal = \"parameters\", within 5 %, does not hold"),
            std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("change model.ff"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "sweeps"));

  program.write("t.toml",
                "base = \"base.toml\"\nequal = \"time\"\n[grid]\nmodel.width = [8, 16]\n");
  EXPECT_NE(program.run({"sweep", "t.toml"}).err.find("with train.minutes = "), std::string::npos);

  program.write("a.toml",
                "base = \"base.toml\"\nequal = \"arithmetic\"\n[grid]\nmodel.width = [8, 16]\n");
  const Outcome flops = program.run({"sweep", "a.toml"});
  EXPECT_NE(flops.err.find("with train.flops = "), std::string::npos) << flops.err;

  program.write("h.toml",
                "base = \"base.toml\"\nequal = \"parameters\"\n[grid]\nmodel.attention = "
                "[\"dense\", \"linear\"]\n");
  const Outcome held = program.run({"sweep", "h.toml", "--dir", "h"});
  ASSERT_EQ(held.code, 0) << held.err;
  EXPECT_NE(held.out.find("equal parameters, within 5 %: "), std::string::npos) << held.out;
  const Outcome report = program.run({"report", "h"});
  EXPECT_NE(report.out.find("equal parameters, within 5 %: "), std::string::npos) << report.out;
}

}  // namespace
}  // namespace weft::experiments::tune_program_test
