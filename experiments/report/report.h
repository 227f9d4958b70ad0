#pragma once

#include <vector>

#include "experiments/report/comparison.h"
#include "experiments/report/report_charts.h"

namespace weft::experiments {

/// The contents of a report, collected once for the page and for separate files.
struct Report {
  const SweepRecord& sweep;
  Comparison comparison;
  std::vector<std::vector<ChartFigure>> charts;  ///< of each task
  std::vector<ChartFigure> lengths;
};

/// The sweep must outlive the result.
Report make_report(const SweepRecord& sweep, const ComparisonOptions& options);

}  // namespace weft::experiments
