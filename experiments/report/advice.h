#pragma once

#include <string>
#include <vector>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// Which row of a task to use, in sentences.
std::vector<std::string> advice_of(const ComparedTask& task);

}  // namespace weft::experiments
