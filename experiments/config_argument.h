#pragma once

#include <string>
#include <vector>

#include "experiments/config_node.h"
#include "experiments/config_problem.h"

namespace weft::experiments {

/// Lays `section.key=value` arguments over a config, the later over the earlier.
void apply_arguments(ConfigNode& root, const std::vector<std::string>& arguments,
                     std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
