#pragma once

#include <string>

#include "experiments/sweep/estimate.h"
#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// Checks a plan's `equal` before anything starts: an Error that lists, task by task, what is too
/// far from the others, and says what to change. `budget`: the common one of the plan's trials.
void check_equal(const SweepPlan& plan, const Budget& budget);

/// "equal parameters, within 5 %: 58.6k to 60.1k"; empty without such a rule.
std::string describe_equal(const SweepPlan& plan);

}  // namespace weft::experiments
