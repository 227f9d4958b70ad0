#pragma once

#include <string>
#include <vector>

#include "experiments/report/chart.h"
#include "experiments/report/comparison.h"
#include "experiments/report/row_colours.h"

namespace weft::experiments {

/// A chart with the name of its file and what it shows.
struct ReportChart {
  std::string file;  ///< "recall-length-128-curves"
  std::string caption;
  Chart chart;
};

/// Learning curves; quality against speed, memory and arithmetic; recall by distance;
/// spans by layer and head; what mechanisms report of themselves. Only those for which there is
/// data.
std::vector<ReportChart> charts_of(const ComparedTask& task, const RowColours& colours);

/// Time and memory of a sequence against its length, over tasks of the same data at two lengths or
/// more, with the fitted exponents in the names.
std::vector<ReportChart> length_charts(const Comparison& comparison, const RowColours& colours);

}  // namespace weft::experiments
