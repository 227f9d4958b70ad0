#pragma once

#include "experiments/draw/table.h"
#include "experiments/report/comparison.h"

namespace weft::experiments {

/// What came out: the same bytes for the same trials, on whichever machine and in how many pieces
/// they ran.
Table result_table(const Comparison& comparison, const ComparedTask& task);
/// Measured times and memory, which differ from run to run.
Table measured_table(const Comparison& comparison, const ComparedTask& task);

/// Every two rows of a task that compete in its first metric, and whether seeds explain their
/// difference.
Table pair_table(const ComparedTask& task);

/// Every statistic in full precision, one to a line, for other programs.
Table result_values(const Comparison& comparison);
Table measured_values(const Comparison& comparison);
/// Every two rows of every task in every metric.
Table pair_values(const Comparison& comparison);

}  // namespace weft::experiments
