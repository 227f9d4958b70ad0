#pragma once

#include <string>
#include <vector>

#include "experiments/config/node.h"
#include "experiments/config/problem.h"

namespace weft::experiments {

/// Lays `section.key=value` arguments over a config, the later over the earlier.
void apply_arguments(ConfigNode& root, const std::vector<std::string>& arguments,
                     std::vector<ConfigProblem>& problems);

/// Puts a value at "section.key", through tables that are there or made; `origin` is where those
/// made were asked for. A value in the way that is no table goes to `problems`.
void set_value(ConfigNode& root, const std::string& path, ConfigNode value,
               const ConfigOrigin& origin, std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
