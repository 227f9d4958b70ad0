#pragma once

#include <string>

#include "experiments/draw/table.h"
#include "experiments/report/comparison.h"

namespace weft::experiments {

/// "2.4865 ± 0.0041", with — for what is not known.
std::string format_score(const std::string& metric, const Statistic& score);

/// What came out: the same bytes for the same trials, on whichever machine and in how many pieces
/// they ran.
Table result_table(const Comparison& comparison, const ComparedTask& task);
/// What it took, which no two runs share.
Table measured_table(const Comparison& comparison, const ComparedTask& task);

/// Every statistic in full precision, one to a line, for other programs.
Table result_values(const Comparison& comparison);
Table measured_values(const Comparison& comparison);

}  // namespace weft::experiments
