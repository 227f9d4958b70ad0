#include "experiments/evaluate/span_report.h"

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "experiments/console/number_text.h"

namespace weft::experiments {
namespace {

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / double(numbers.size());
}

}  // namespace

std::optional<Index> layer_with_spans(const std::string& metric) {
  constexpr std::string_view before = "layers.";
  if (!metric.starts_with(before)) return {};
  Index layer = 0;
  const char* const end = metric.data() + metric.size();
  const auto [rest, fault] = std::from_chars(metric.data() + before.size(), end, layer);
  if (fault != std::errc() || std::string_view(rest, std::size_t(end - rest)) != ".spans")
    return {};
  return layer;
}

std::optional<SpanReport> span_report(const layers::Model& model, const RunConfig& config) {
  SpanReport report{.spans = model.spans()};
  if (report.spans.empty()) return std::nullopt;
  const Index batch = config.train.batch, length = config.data.length;
  const double weights = double(model.layer_weights());
  const double head_width = double(config.model.width / config.model.heads);
  double keys = 0;
  for (const auto& layer : report.spans) keys += std::accumulate(layer.begin(), layer.end(), 0.0);
  report.macs_paper = weights + 2 * head_width * keys;
  const auto cost = model.attention_cost(batch);
  report.macs_counted = weights + double(cost.flops) / 2 / double(batch * length);
  return report;
}

std::vector<std::pair<std::string, MetricValue>> SpanReport::metrics() const {
  std::vector<std::pair<std::string, MetricValue>> values;
  for (std::size_t i = 0; i < spans.size(); ++i)
    values.push_back({"layers." + std::to_string(i) + ".spans", spans[i]});
  values.push_back({"macs_paper", macs_paper});
  values.push_back({"macs_counted", macs_counted});
  return values;
}

std::string SpanReport::summary() const {
  double most = 0;
  std::vector<double> means;
  for (const auto& layer : spans) {
    means.push_back(mean_of(layer));
    most = std::max(most, std::ranges::max(layer));
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << "spans " << mean_of(means) << " on average, "
       << most << " at most; " << format_count(macs_paper) << " multiply-adds a token by the rule, "
       << format_count(macs_counted) << " counted";
  return text.str();
}

std::string SpanReport::table() const {
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << " layer      mean   spans of its heads\n";
  for (std::size_t i = 0; i < spans.size(); ++i) {
    text << std::setw(6) << i << std::setw(10) << mean_of(spans[i]) << "  ";
    for (const double span : spans[i]) text << ' ' << span;
    text << '\n';
  }
  text << "multiply-adds a token: " << format_count(macs_paper)
       << " by the rule (weights and two head widths a key), " << format_count(macs_counted)
       << " as the kernels count\n";
  return text.str();
}

}  // namespace weft::experiments
