#pragma once

#include <string>
#include <vector>

#include "experiments/config/node.h"
#include "experiments/config/problem.h"

namespace weft::experiments {

/// A config file laid over the files that it includes. A file that is missing, unreadable, too
/// large, no TOML, or that includes itself goes to `problems`.
ConfigNode read_config_file(const std::string& path, std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
