#pragma once

#include <string>
#include <vector>

#include "experiments/sweep/plan.h"

namespace weft::experiments {

/// Sentences on trials that will compute the same, though the settings of their models differ: the
/// first steps that were timed agree, and so do parameters and arithmetic. A window as long as the
/// sequences, for one, is dense attention.
std::vector<std::string> same_systems(const SweepPlan& plan);

}  // namespace weft::experiments
