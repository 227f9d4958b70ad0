#pragma once

#include <vector>

#include "experiments/sweep/plan.h"
#include "experiments/sweep/trials.h"

namespace weft::experiments {

/// Reads the data and builds the model of every trial, which finds what cannot work before the
/// first one starts, and predicts how long each takes by training two steps of each that
/// `is_open`; `eval_tokens` limits what is scored unless it is 0. Trials that differ in nothing but
/// their seed are looked at once.
std::vector<PlannedTrial> plan_trials(const std::vector<Trial>& trials,
                                      const std::vector<bool>& is_open, Index threads,
                                      Index eval_tokens);

/// "tokens = 1000000" when that is the budget of all, empty when they differ.
std::string common_budget(const std::vector<Trial>& trials);

}  // namespace weft::experiments
