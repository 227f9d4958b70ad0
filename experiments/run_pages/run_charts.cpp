#include "experiments/run_pages/run_charts.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "experiments/console/number_text.h"
#include "experiments/evaluate/statistics.h"

namespace weft::experiments {
namespace {

constexpr std::size_t most_points = 120;

/// "clusters_used" of "layers.0.attention.mechanism.clusters_used".
std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }
/// "layers.0" of the same.
std::string first_parts(const std::string& name) {
  return name.substr(0, name.find('.', name.find('.') + 1));
}

/// A line of a chart, named where `named`: `scale` turns the unit of the metric into that of the
/// axis.
ChartSeries series_of(const Curve& curve, const std::string& name, std::size_t colour,
                      double scale = 1, bool named = true) {
  std::vector<double> deviations;
  const Curve some = thinned(curve, most_points, &deviations);
  ChartSeries series{name, colour, {}};
  for (std::size_t i = 0; i < some.steps.size(); ++i) {
    const double y = some.values[i] * scale;
    series.marks.push_back(
        {double(some.steps[i]), y, deviations[i] * scale,
         name + ", step " + std::to_string(some.steps[i]) + ": " + format_exact(double(float(y)))});
  }
  if (!named) series.name.clear();
  return series;
}

/// The title of a metric's chart and how it is drawn.
struct MetricChart {
  const char *metric, *title, *unit, *caption;
  double scale = 1;
  bool log = false;
  bool is_share = false;
};

constexpr MetricChart metric_charts[] = {
    {"validation_accuracy", "accuracy", "right, validation",
     "Share of right answers on validation.", 1, false, true},
    {"validation_sequence_accuracy", "whole sequences", "all right, validation",
     "Share of sequences without a mistake.", 1, false, true},
    {"validation_f1", "F1", "F1, validation", "Words that answers share with the right ones.", 1,
     false, true},
    {"validation_steps", "steps", "steps, validation", "Steps after which positions halt."},
    {"lr", "learning rate", "learning rate", "The learning rate of each step."},
    {"gradient_norm", "gradient norm", "gradient norm",
     "Length of the gradient before it is clipped; jumps precede trouble.", 1, true},
    {"tokens_per_s", "speed", "tokens/s", "Tokens read in a second of training."},
    {"peak_bytes", "memory", "peak MB", "The most memory that a step needed.", 1e-6},
};

void add(std::vector<ChartFigure>& charts, const std::string& file, const std::string& caption,
         Chart chart) {
  if (chart.drawn_marks() > 0) charts.push_back({file, caption, std::move(chart)});
}

Chart chart_over_steps(const std::string& title, const std::string& unit) {
  return {.title = title, .x_title = "step", .y_title = unit, .series = {}, .x_whole = true};
}

void add_loss(const std::vector<RunRecord>& runs, std::vector<ChartFigure>& charts) {
  const auto loss_chart = [&](const std::vector<std::string>& metrics, const std::string& what) {
    Chart chart = chart_over_steps(what, "loss, nats per token");
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t k = 0; k < metrics.size(); ++k)
        if (const Curve* const curve = runs[i].curve(metrics[k])) {
          const std::string own = metrics[k] == "loss" ? "training" : "validation";
          chart.series.push_back(series_of(*curve, runs.size() > 1 ? runs[i].name : own, i + k));
        }
    if (const Curve* const floor = runs[0].curve("floor_bits"); floor && !chart.series.empty()) {
      const double nats = floor->values.back() * std::numbers::ln2;
      chart.least = 0;
      chart.levels.push_back({nats, "floor"});
    }
    return chart;
  };
  if (runs.size() == 1) {
    add(charts, "loss", "How it learns: training loss, and validation on text it has not seen.",
        loss_chart({"loss", "validation_loss"}, "loss"));
    return;
  }
  add(charts, "validation-loss", "Validation loss of each run.",
      loss_chart({"validation_loss"}, "validation loss"));
  add(charts, "training-loss", "Training loss of each run; bands are the spread of nearby steps.",
      loss_chart({"loss"}, "training loss"));
}

void add_metric(const MetricChart& form, const std::vector<RunRecord>& runs,
                std::vector<ChartFigure>& charts) {
  Chart chart = chart_over_steps(form.title, form.unit);
  if (form.log) chart.y_scale = Axis::Scale::log;
  chart.least = 0;
  if (form.is_share) chart.most = 1;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (const Curve* const curve = runs[i].curve(form.metric))
      chart.series.push_back(series_of(*curve, runs.size() > 1 ? runs[i].name : form.title, i,
                                       form.scale, runs.size() > 1));
  add(charts, form.metric, form.caption, std::move(chart));
}

/// The metrics that are lists of where bands begin and of what was found in them.
struct BandMetrics {
  std::string from, found, behind;  ///< "8 or more back: 0.9"
  std::string tokens = {};          ///< how many tokens each has, which older runs lack
};

/// A line for each run, as its bands were last measured.
void add_bands(const BandMetrics& metrics, const std::vector<RunRecord>& runs, Chart& chart) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto from = runs[i].lists.find(metrics.from), found = runs[i].lists.find(metrics.found);
    if (from == runs[i].lists.end() || found == runs[i].lists.end()) continue;
    ChartSeries series{runs.size() > 1 ? runs[i].name : chart.title, i, {}};
    const auto tokens = runs[i].lists.find(metrics.tokens);
    for (std::size_t k = 0; k < std::min(from->second.size(), found->second.size()); ++k) {
      if (tokens != runs[i].lists.end() && k < tokens->second.size() && tokens->second[k] == 0)
        continue;
      series.marks.push_back({from->second[k], found->second[k],
                              std::numeric_limits<double>::quiet_NaN(),
                              series.name + ", " + format_exact(from->second[k]) + metrics.behind +
                                  ": " + format_fixed(found->second[k], 3)});
    }
    if (runs.size() == 1) series.name.clear();
    if (!series.marks.empty()) chart.series.push_back(std::move(series));
  }
}

void add_recall(const std::vector<RunRecord>& runs, std::vector<ChartFigure>& charts) {
  Chart chart{.title = "recall by distance",
              .x_title = "tokens back",
              .y_title = "recalled right",
              .x_scale = Axis::Scale::log,
              .series = {},
              .least = 0,
              .most = 1};
  add_bands({"recall_distance", "recall_accuracy", " or more back", "recall_tokens"}, runs, chart);
  add(charts, "recall", "How far back it can look, as last measured.", std::move(chart));
}

void add_steps(const std::vector<RunRecord>& runs, std::vector<ChartFigure>& charts) {
  Chart chart{.title = "steps by difficulty",
              .x_title = "distance, depth, length or position",
              .y_title = "steps until positions halt",
              .x_scale = Axis::Scale::log,
              .series = {},
              .least = 0};
  add_bands({"validation_steps_from", "validation_steps_mean", " or more"}, runs, chart);
  add(charts, "steps",
      "How long it ponders, as last measured: by what makes some tokens harder than others.",
      std::move(chart));
}

void add_spans(const RunRecord& run, bool named, std::vector<ChartFigure>& charts) {
  Chart chart = chart_over_steps("spans", "keys that a head reads");
  chart.least = 0;
  for (const auto& [layer, moments] : run.spans) {
    ChartSeries series{"layer " + std::to_string(layer), std::size_t(layer), {}};
    for (const auto& [step, spans] : moments) {
      const Statistic s = Statistic::of(spans);
      series.marks.push_back({double(step), s.mean, s.deviation,
                              series.name + ", step " + std::to_string(step) + ": " +
                                  format_fixed(s.mean, 1) + " keys"});
    }
    chart.series.push_back(std::move(series));
  }
  add(charts, "spans" + (named ? "-" + run.name : ""),
      "How far back the heads of each layer read" + (named ? ", " + run.name : "") +
          ": mean over heads, the band is their deviation.",
      std::move(chart));
}

void add_figures(const RunRecord& run, bool named, std::vector<ChartFigure>& charts) {
  std::set<std::string> kinds;
  for (const auto& [name, curve] : run.figures) kinds.insert(last_part(name));
  for (const std::string& kind : kinds) {
    Chart chart = chart_over_steps(kind, kind);
    for (const auto& [name, curve] : run.figures)
      if (last_part(name) == kind)
        chart.series.push_back(series_of(curve, first_parts(name), chart.series.size()));
    add(charts, kind + (named ? "-" + run.name : ""),
        "What its layers report of themselves" + (named ? ", " + run.name : "") + ": " + kind + ".",
        std::move(chart));
  }
}

}  // namespace

Curve thinned(const Curve& curve, std::size_t most, std::vector<double>* deviations) {
  Curve some;
  const std::size_t n = curve.values.size(), each = (n + most - 1) / std::max<std::size_t>(most, 1);
  for (std::size_t i = 0; i < n; i += std::max<std::size_t>(each, 1)) {
    const std::size_t end = std::min(n, i + each);
    std::vector<double> finite;
    for (std::size_t k = i; k < end; ++k)
      if (std::isfinite(curve.values[k])) finite.push_back(curve.values[k]);
    const Statistic s = Statistic::of(finite);
    some.add(curve.steps[end - 1], s.mean);
    if (deviations) deviations->push_back(s.deviation);
  }
  return some;
}

std::vector<ChartFigure> run_charts(const std::vector<RunRecord>& runs) {
  std::vector<ChartFigure> charts;
  if (runs.empty()) return charts;
  add_loss(runs, charts);
  for (const MetricChart& form : metric_charts) add_metric(form, runs, charts);
  add_recall(runs, charts);
  add_steps(runs, charts);
  for (const RunRecord& run : runs) {
    add_spans(run, runs.size() > 1, charts);
    add_figures(run, runs.size() > 1, charts);
  }
  return charts;
}

}  // namespace weft::experiments
