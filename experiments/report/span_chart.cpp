#include "experiments/report/span_chart.h"

#include <algorithm>
#include <set>

#include "experiments/evaluate/statistics.h"

namespace weft::experiments {
namespace {

/// By layer and place among its heads: the spans of all trials.
std::map<std::pair<Index, Index>, std::vector<double>> spans_by_place(const ComparedRow& row) {
  std::map<std::pair<Index, Index>, std::vector<double>> places;
  for (const TrialRecord* trial : row.done)
    for (auto [layer, spans] : trial->spans) {
      std::ranges::sort(spans);
      for (std::size_t head = 0; head < spans.size(); ++head)
        places[{layer, Index(head)}].push_back(spans[head]);
    }
  return places;
}

}  // namespace

Chart span_chart(const ComparedTask& task, const RowColours& colours) {
  Chart chart{.title = "spans: " + task.name,
              .x_title = "layer; its heads by span",
              .y_title = "keys that a head reads",
              .joined = false,
              .series = {},
              .least = 0};
  std::set<Index> layers;
  for (const ComparedRow& row : task.rows) {
    const auto places = spans_by_place(row);
    if (places.empty()) continue;
    std::map<Index, Index> heads;
    for (const auto& [place, spans] : places) ++heads[place.first];
    ChartSeries series{row.marked_name(), colours.at(row.name), {}};
    for (const auto& [place, spans] : places) {
      const auto [layer, head] = place;
      const Statistic s = Statistic::of(spans);
      series.marks.push_back(
          {double(layer) + (double(head) + 0.5) / double(heads[layer]), s.mean, s.deviation,
           series.name + ", layer " + std::to_string(layer) + ": " + tick_text(s.mean) + " keys"});
    }
    for (const auto& [layer, count] : heads) layers.insert(layer);
    chart.series.push_back(std::move(series));
  }
  for (const Index layer : layers)
    chart.x_ticks.push_back({double(layer) + 0.5, std::to_string(layer)});
  return chart;
}

}  // namespace weft::experiments
