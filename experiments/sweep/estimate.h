#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/sweep/plan.h"
#include "experiments/sweep/trials.h"

namespace weft::experiments {

/// Reads the data and builds the model of every trial, which finds what cannot work before the
/// first one starts, and predicts how long each takes by training two steps of each that
/// `is_open`; `eval_tokens` limits what is scored unless it is 0. Trials that differ only in
/// their seed are measured once. `measuring` first gets how many kinds of trials will be trained.
std::vector<PlannedTrial> plan_trials(const std::vector<Trial>& trials,
                                      const std::vector<bool>& is_open, Index threads,
                                      Index eval_tokens,
                                      const std::function<void(Index)>& measuring = {});

/// What every trial trains for; both empty when they differ.
struct Budget {
  std::string key;  ///< tokens, flops, minutes or steps, of the section [train]
  std::string value;

  /// "tokens = 1000000"
  std::string text() const { return key.empty() ? "" : key + " = " + value; }
  bool operator==(const Budget&) const = default;
};
Budget common_budget(const std::vector<Trial>& trials);

}  // namespace weft::experiments
