#pragma once

#include "experiments/draw/table.h"
#include "experiments/report/comparison.h"

namespace weft::experiments {

/// What every arm of a task tried and got: a line for each candidate, with its validation loss at
/// the end of each rung that it entered. Without lines where nothing was tuned.
Table tuning_table(const SweepRecord& sweep, const Comparison& comparison,
                   const ComparedTask& task);

/// The same of all tasks in full precision, for other programs.
Table tuning_values(const SweepRecord& sweep, const Comparison& comparison);

}  // namespace weft::experiments
