#pragma once

#include <string>
#include <vector>

#include "experiments/config/node.h"

namespace weft::experiments {

/// A setting of a run and the value that a sweep gives it.
struct Assignment {
  std::string key;  // "model.attention"
  ConfigNode value;
};
using Assignments = std::vector<Assignment>;

}  // namespace weft::experiments
