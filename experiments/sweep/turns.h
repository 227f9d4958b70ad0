#pragma once

#include <vector>

#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// What is known of a trial, for the decisions of a sweep.
struct TrialOutcome {
  bool ended = false;  ///< it finished or diverged; a trial that failed otherwise is still open
  double loss = 0;     ///< validation loss at its end, infinite when it diverged
};
TrialOutcome outcome_of(const SweepFiles& files, const PlannedTrial& trial);

/// Whether a trial of a plan is to be run.
enum class Turn {
  now,    ///< it is, or has been
  later,  ///< that depends on trials that have not ended
  never,  ///< halving left its candidate out
  pruned  ///< [prune] gave it up
};

/// Of every trial of the plan, in its order. Nothing but outcomes decides: not the time, not the
/// order in which trials ended. A rung opens when all trials of the rung below have ended.
std::vector<Turn> turns_of(const SweepPlan& plan, const std::vector<TrialOutcome>& outcomes);
/// With the outcomes that the sweep's files say.
std::vector<Turn> turns_of(const SweepFiles& files, const SweepPlan& plan);

/// How many more trials will be run than those whose turn is now.
Index later_trials(const SweepPlan& plan, const std::vector<Turn>& turns);

/// What they are expected to take, in seconds.
double later_seconds(const SweepPlan& plan, const std::vector<Turn>& turns);

/// The rungs that are open, one line for each arm: "attention=dense: rung 2 of 2, 3 candidates".
std::vector<std::string> open_rungs(const SweepPlan& plan, const std::vector<Turn>& turns);

}  // namespace weft::experiments
