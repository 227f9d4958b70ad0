#pragma once

#include <string>
#include <vector>

#include "experiments/config/problem.h"

namespace weft::experiments {

/// What all that compete on a task must have alike: equal = "parameters", "arithmetic" (of a whole
/// training, by the cost model) or "time" (the budget itself: train.minutes).
struct EqualRule {
  std::string what = "parameters";
  double within = 0.05;  ///< equal_within: how far the largest may be above the smallest, a share
};

/// The rule of a sweep file's two keys, of which the second may be absent.
EqualRule read_equal_rule(const ConfigNode& what, const ConfigNode* within,
                          std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
