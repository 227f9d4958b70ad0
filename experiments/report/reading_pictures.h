#pragma once

#include <string>

#include "experiments/report/comparison.h"

namespace weft::experiments {

/// A thumbnail for each row of a task: which keys its attention can read, before any training, as
/// markup. Rows without a result, or whose config is gone or of another version, have none.
std::string reading_pictures(const ComparedTask& task);

}  // namespace weft::experiments
