#pragma once

#include <string>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// Images that the systems of a task completed: for each the newest picture of its first trial that
/// is done, inside the page itself. Empty where trials have none.
std::string sample_pictures(const ComparedTask& task);

}  // namespace weft::experiments
