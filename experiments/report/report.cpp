#include "experiments/report/report.h"

namespace weft::experiments {

Report make_report(const SweepRecord& sweep, const ComparisonOptions& options) {
  Report report{sweep, compare(sweep, options), {}, {}};
  const RowColours colours = colours_of(report.comparison);
  for (const ComparedTask& task : report.comparison.tasks)
    report.charts.push_back(charts_of(task, colours));
  report.lengths = length_charts(report.comparison, colours);
  return report;
}

}  // namespace weft::experiments
