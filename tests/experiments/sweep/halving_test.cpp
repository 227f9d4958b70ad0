#include "experiments/sweep/rules/halving.h"

#include <cmath>
#include <limits>

#include "experiments/sweep/turns.h"

namespace weft::experiments::halving_test {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();
using Places = std::vector<std::size_t>;

TEST(Halving, one_in_three_goes_on_to_three_times_the_budget_until_one_is_left) {
  const std::vector<Rung> rungs = halving_rungs(9, 3, 2);
  ASSERT_EQ(rungs.size(), 2u);
  EXPECT_EQ(rungs[0].candidates, 9);
  EXPECT_EQ(rungs[1].candidates, 3);
  EXPECT_DOUBLE_EQ(rungs[0].share, 1.0 / 9);
  EXPECT_DOUBLE_EQ(rungs[1].share, 1.0 / 3);
  const std::vector<Rung> uneven = halving_rungs(5, 2, 1.5);
  ASSERT_EQ(uneven.size(), 2u);
  EXPECT_EQ(uneven[1].candidates, 2) << "half of five, rounded down";
  EXPECT_DOUBLE_EQ(5 * uneven[0].share + 2 * uneven[1].share, 1.5) << "what all of it costs";
  EXPECT_TRUE(halving_rungs(1, 3, 2).empty());
  EXPECT_DOUBLE_EQ(halving_rungs(9, 3, most_halving_budget(9, 3)).back().share, 0.5);
}

TEST(Halving, keeps_the_least_losses_the_earlier_of_equals_and_nothing_that_diverged) {
  EXPECT_EQ(kept_candidates(std::vector<double>{3, 1, 2, 4}, 2), (Places{1, 2}));
  EXPECT_EQ(kept_candidates(std::vector<double>{2, 1, 2, 2}, 2), (Places{0, 1}));
  EXPECT_EQ(kept_candidates(std::vector<double>{none, 5, NAN}, 2), (Places{1}));
  EXPECT_TRUE(kept_candidates(std::vector<double>{none, none}, 1).empty());
}

/// Two arms with four candidates in rungs of 4 and 2, and two seeds.
SweepPlan tuned_plan() {
  SweepPlan plan;
  plan.rungs = {{4, 0.1}, {2, 0.2}};
  plan.tuned = {"optim.lr"};
  for (Index arm = 0; arm < 2; ++arm)
    for (const Index rung : {0, 1, -1})
      for (Index candidate = 0; candidate < 4; ++candidate)
        for (Index seed = 1; seed <= (rung < 0 ? 2 : 1); ++seed) {
          PlannedTrial trial;
          trial.settings = {{"model.attention", arm == 0 ? "dense" : "local"},
                            {"optim.lr", std::to_string(candidate)},
                            {"seed", std::to_string(seed)}};
          trial.stage = {arm, candidate, rung};
          trial.seconds = 1;
          plan.trials.push_back(trial);
        }
  return plan;
}

/// The candidates of an arm and a rung whose turn this is, each once.
std::vector<Index> with_turn(const SweepPlan& plan, const std::vector<Turn>& turns, Turn turn,
                             Index arm, Index rung) {
  std::vector<Index> candidates;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const TuneStage& stage = plan.trials[i].stage;
    const bool is_new = candidates.empty() || candidates.back() != stage.candidate;
    if (stage.arm == arm && stage.rung == rung && turns[i] == turn && is_new)
      candidates.push_back(stage.candidate);
  }
  return candidates;
}

void end(const SweepPlan& plan, std::vector<TrialOutcome>& outcomes, Index arm, Index rung,
         const std::vector<double>& losses) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const TuneStage& stage = plan.trials[i].stage;
    if (stage.arm == arm && stage.rung == rung)
      outcomes[i] = {true, losses[std::size_t(stage.candidate)]};
  }
}

using Candidates = std::vector<Index>;

TEST(Turns, a_rung_opens_when_the_one_below_has_ended_and_for_what_it_kept) {
  const SweepPlan plan = tuned_plan();
  std::vector<TrialOutcome> outcomes(plan.trials.size());
  auto turns = turns_of(plan, outcomes);
  EXPECT_EQ(with_turn(plan, turns, Turn::now, 0, 0), (Candidates{0, 1, 2, 3}));
  EXPECT_EQ(with_turn(plan, turns, Turn::later, 0, 1), (Candidates{0, 1, 2, 3}));
  EXPECT_EQ(later_trials(plan, turns), 2 * (2 + 2)) << "two candidates, then two seeds of each arm";
  EXPECT_EQ(later_seconds(plan, turns), 8);

  end(plan, outcomes, 0, 0, {3, 1, none, 2});
  outcomes[0].ended = false;  // one of them still trains
  EXPECT_EQ(with_turn(plan, turns_of(plan, outcomes), Turn::now, 0, 1), Candidates{});
  outcomes[0].ended = true;
  turns = turns_of(plan, outcomes);
  EXPECT_EQ(with_turn(plan, turns, Turn::now, 0, 1), (Candidates{1, 3}));
  EXPECT_EQ(with_turn(plan, turns, Turn::never, 0, 1), (Candidates{0, 2}));
  EXPECT_EQ(with_turn(plan, turns, Turn::later, 0, -1), (Candidates{1, 3}));
  EXPECT_EQ(with_turn(plan, turns, Turn::now, 1, 1), Candidates{}) << "the other arm is by itself";
  EXPECT_EQ(open_rungs(plan, turns)[0], "attention=dense: rung 2 of 2, 2 candidates");
  EXPECT_EQ(open_rungs(plan, turns)[1], "attention=local: rung 1 of 2, 4 candidates");

  end(plan, outcomes, 0, 1, {0, 5, 0, 4});
  turns = turns_of(plan, outcomes);
  EXPECT_EQ(with_turn(plan, turns, Turn::now, 0, -1), (Candidates{3}));
  EXPECT_EQ(with_turn(plan, turns, Turn::never, 0, -1), (Candidates{0, 1, 2}));
  EXPECT_EQ(open_rungs(plan, turns)[0], "attention=dense: tuned");
}

TEST(Turns, an_arm_of_which_everything_diverged_trains_nothing_more) {
  const SweepPlan plan = tuned_plan();
  std::vector<TrialOutcome> outcomes(plan.trials.size());
  end(plan, outcomes, 0, 0, {none, none, none, none});
  const auto turns = turns_of(plan, outcomes);
  EXPECT_EQ(with_turn(plan, turns, Turn::never, 0, -1), (Candidates{0, 1, 2, 3}));
}

TEST(Turns, pruning_waits_for_the_first_seed_of_all_and_gives_up_what_is_far_behind) {
  SweepPlan plan;
  plan.prune = PruneRule{.after = 1, .behind = 0.1};
  for (const char* const name : {"a", "b", "c"})
    for (const char* const seed : {"1", "2", "3"}) {
      PlannedTrial trial;
      trial.settings = {{"model.attention", name}, {"seed", seed}};
      plan.trials.push_back(trial);
    }
  std::vector<TrialOutcome> outcomes(9);
  const auto now = [&] {
    std::string text;
    for (const Turn turn : turns_of(plan, outcomes))
      text += turn == Turn::now ? 'n' : turn == Turn::later ? 'l' : 'p';
    return text;
  };
  EXPECT_EQ(now(), "nllnllnll");
  outcomes[0] = {true, 1.0};
  outcomes[3] = {true, 1.09};
  EXPECT_EQ(now(), "nllnllnll") << "the first seed of c is not there yet";
  outcomes[6] = {true, 1.11};
  EXPECT_EQ(now(), "nnnnnnnpp");
  outcomes[6] = {true, none};
  EXPECT_EQ(now(), "nnnnnnnpp") << "it diverged";
}

}  // namespace
}  // namespace weft::experiments::halving_test
