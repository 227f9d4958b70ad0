#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/run/metrics_log.h"
#include "experiments/run/run_config.h"
#include "layers/model/language_model.h"

namespace weft::experiments {

/// How far the heads of a model read, and what that costs for each token.
struct SpanReport {
  std::vector<std::vector<double>> spans;  ///< keys, of each layer's heads
  /// Multiply-adds of the layers: weights, and two head widths for each key of a span.
  double macs_paper = 0;
  /// The same as the kernels count them: tile edges, position keys and carried states included.
  double macs_counted = 0;

  /// "layers.0.spans" and so on, macs_paper, macs_counted.
  std::vector<std::pair<std::string, MetricValue>> metrics() const;
  /// One line for a log.
  std::string summary() const;
  /// A row for each layer.
  std::string table() const;
};

/// 3 of "layers.3.spans", the name of a metric; nothing for others.
std::optional<Index> layer_with_spans(const std::string& metric);

/// Nothing for a model without spans.
std::optional<SpanReport> span_report(const layers::Model& model, const RunConfig& config);

}  // namespace weft::experiments
