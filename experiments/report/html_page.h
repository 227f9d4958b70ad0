#pragma once

#include <string>

#include "experiments/report/comparison.h"
#include "experiments/report/report_charts.h"

namespace weft::experiments {

/// What a report shows, gathered once for the page and for files of their own.
struct Report {
  const SweepRecord& sweep;
  Comparison comparison;
  std::vector<std::vector<ReportChart>> charts;  ///< of each task
  std::vector<ReportChart> lengths;
};

Report make_report(const SweepRecord& sweep, const ComparisonOptions& options);

/// One file that needs nothing else: no script, no font, no address.
std::string html_page(const Report& report);

/// Which one to use, in sentences, for one task.
std::vector<std::string> advice_of(const ComparedTask& task);

}  // namespace weft::experiments
