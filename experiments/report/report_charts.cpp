#include "experiments/report/report_charts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "experiments/console/number_text.h"
#include "experiments/report/score_text.h"
#include "experiments/report/span_chart.h"

namespace weft::experiments {
namespace {

std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name;
}

std::string quality_title(const ComparedTask& task) {
  const std::string& metric = task.metrics.front();
  return (metric == "bits" ? "bits per " + task.unit : metric) + " on " + task.split +
         ", better upwards";
}

/// Mean and deviation over the trials at each step that all of them have.
ChartSeries series_over_trials(const ComparedRow& row, std::size_t colour,
                               const std::function<const Curve*(const TrialRecord&)>& curve) {
  ChartSeries series{row.marked_name(), colour, {}};
  std::map<Index, std::vector<double>> by_step;
  for (const TrialRecord* trial : row.done)
    if (const Curve* own = curve(*trial))
      for (std::size_t i = 0; i < own->steps.size(); ++i)
        by_step[own->steps[i]].push_back(own->values[i]);
  for (const auto& [step, values] : by_step) {
    if (values.size() < row.done.size()) continue;
    const Statistic s = Statistic::of(values);
    const PlannedTrial& plan = row.done.front()->plan;
    const double tokens = double(step) * double(plan.tokens) / double(plan.steps);
    series.marks.push_back(
        {tokens, s.mean, s.deviation,
         series.name + ", step " + std::to_string(step) + ": " + format_score("bits", s)});
  }
  return series;
}

/// A floor far below the curves would only press them flat.
void add_floor(double floor, Chart& chart) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const ChartSeries& series : chart.series)
    for (const ChartMark& mark : series.marks)
      low = std::min(low, mark.y), high = std::max(high, mark.y);
  if (low - floor <= high - low) chart.levels.push_back({floor, "floor"});
}

void add_curves(const ComparedTask& task, const RowColours& colours,
                std::vector<ChartFigure>& charts) {
  Chart chart{.title = "learning curves: " + task.name,
              .x_title = "tokens read",
              .y_title = "validation, bits per " + task.unit,
              .series = {}};
  for (const ComparedRow& row : task.rows)
    chart.series.push_back(series_over_trials(
        row, colours.at(row.name), [](const TrialRecord& t) { return &t.validation_bits; }));
  if (std::isfinite(task.floor_bits)) chart.least = task.floor_bits;
  add_floor(task.floor_bits, chart);
  if (chart.drawn_marks() > 0)
    charts.push_back({file_name(task.name) + "-curves",
                      "How fast each learns: mean over seeds, the band is one standard deviation.",
                      std::move(chart)});
}

/// Where all cost the same, there is nothing to weigh.
bool costs_differ(const Chart& chart) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const ChartSeries& series : chart.series)
    for (const ChartMark& mark : series.marks)
      low = std::min(low, mark.x), high = std::max(high, mark.x);
  return chart.series.size() < 2 || high > 1.001 * low;
}

/// Where the scores of a metric end: bits at the floor of the source, shares at 0 and 1.
void bound_scores(const ComparedTask& task, Chart& chart) {
  const std::string& metric = task.metrics.front();
  const bool falls = lower_is_better(metric);
  chart.least = falls && metric == "bits" && std::isfinite(task.floor_bits) ? task.floor_bits : 0;
  if (!falls) chart.most = 1;
}

/// Quality against a cost; the front joins those that nothing beats in both.
void add_trade_off(const ComparedTask& task, const RowColours& colours, const std::string& file,
                   const std::string& caption, const std::string& x_title, bool more_is_cheaper,
                   double (*cost)(const ComparedRow&), std::vector<ChartFigure>& charts) {
  const std::string& metric = task.metrics.front();
  const double sign = lower_is_better(metric) ? -1 : 1;
  Chart chart{.title = file + ": " + task.name,
              .x_title = x_title,
              .y_title = quality_title(task),
              .x_scale = Axis::Scale::log,
              .y_falls = lower_is_better(metric),
              .joined = false,
              .series = {}};
  bound_scores(task, chart);
  std::vector<Candidate> candidates;
  std::vector<ChartMark> marks;
  for (const ComparedRow& row : task.rows) {
    const auto score = row.scores.find(metric);
    if (score == row.scores.end() || !(cost(row) > 0)) continue;
    const ChartMark mark{cost(row), score->second.mean, score->second.deviation,
                         row.marked_name() + ": " + format_score(metric, score->second) + ", " +
                             tick_text(cost(row)) + " " + x_title};
    chart.series.push_back({row.marked_name(), colours.at(row.name), {mark}});
    if (row.leaks) continue;
    candidates.push_back({more_is_cheaper ? -mark.x : mark.x, sign * mark.y});
    marks.push_back(mark);
  }
  if (!costs_differ(chart)) return;
  for (const std::size_t i : pareto_front(candidates)) chart.front.push_back(marks[i]);
  if (chart.drawn_marks() > 0)
    charts.push_back({file_name(task.name) + "-" + file, caption, std::move(chart)});
}

/// Means over trials of what was found in their bands: "32 or more back: 0.9".
ChartSeries series_over_bands(const ComparedRow& row, std::size_t colour,
                              const std::map<Index, std::vector<double>>& bands,
                              const std::string& behind, const std::string& metric) {
  ChartSeries series{row.marked_name(), colour, {}};
  for (const auto& [from, values] : bands) {
    const Statistic s = Statistic::of(values);
    series.marks.push_back(
        {double(from), s.mean, s.deviation,
         series.name + ", " + std::to_string(from) + behind + ": " + format_score(metric, s)});
  }
  return series;
}

void add_recall(const ComparedTask& task, const RowColours& colours,
                std::vector<ChartFigure>& charts) {
  Chart chart{.title = "recall by distance: " + task.name,
              .x_title = "tokens back",
              .y_title = "recalled right, " + task.split,
              .x_scale = Axis::Scale::log,
              .series = {},
              .least = 0,
              .most = 1};
  for (const ComparedRow& row : task.rows) {
    std::map<Index, std::vector<double>> by_distance;
    for (const TrialRecord* trial : row.done)
      for (const RecallBand& band : trial->recall) by_distance[band.from].push_back(band.accuracy);
    chart.series.push_back(
        series_over_bands(row, colours.at(row.name), by_distance, " or more back", "recall"));
  }
  if (std::isfinite(task.chance)) chart.levels.push_back({task.chance, "chance"});
  if (chart.drawn_marks() > 0)
    charts.push_back({file_name(task.name) + "-recall",
                      "How far back each can look: accuracy on recalled symbols by their distance.",
                      std::move(chart)});
}

void add_steps(const ComparedTask& task, const RowColours& colours,
               std::vector<ChartFigure>& charts) {
  Chart chart{.title = "steps by difficulty: " + task.name,
              .y_title = "steps until positions halt",
              .x_scale = Axis::Scale::log,
              .series = {},
              .least = 0};
  for (const ComparedRow& row : task.rows) {
    std::map<Index, std::vector<double>> bands;
    for (const TrialRecord* trial : row.done)
      for (const StepsBand& band : trial->steps) {
        bands[band.from].push_back(band.steps);
        chart.x_title = trial->hardness;
      }
    chart.series.push_back(
        series_over_bands(row, colours.at(row.name), bands, " or more", "steps"));
  }
  if (chart.drawn_marks() > 0)
    charts.push_back(
        {file_name(task.name) + "-steps",
         "How long each ponders: steps until positions halt, by what makes some tokens "
         "harder than others.",
         std::move(chart)});
}

/// "clusters_used" of "layers.0.attention.mechanism1.clusters_used".
std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }
std::string without_last_part(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// Names each series by where in the model it was measured, less the end that all places share:
/// "layers.0" and "layers.1" of "layers.0.attention.mechanism" and "layers.1.attention.mechanism".
void shorten_places(std::vector<ChartSeries>& series) {
  const auto may_be_shortened = [&] {
    return series.size() > 1 && std::ranges::all_of(series, [&](const ChartSeries& one) {
             return one.name.find('.') != std::string::npos &&
                    last_part(one.name) == last_part(series.front().name);
           });
  };
  while (may_be_shortened())
    for (ChartSeries& one : series) one.name = without_last_part(one.name);
}

void add_figures(const ComparedTask& task, std::vector<ChartFigure>& charts) {
  for (const ComparedRow& row : task.rows) {
    std::set<std::string> kinds, names;
    for (const TrialRecord* trial : row.done)
      for (const auto& [name, curve] : trial->figures)
        names.insert(name), kinds.insert(last_part(name));
    for (const std::string& kind : kinds) {
      Chart chart{.title = kind + " of " + row.marked_name() + ": " + task.name,
                  .x_title = "tokens read",
                  .y_title = kind,
                  .series = {}};
      for (const std::string& name : names) {
        if (last_part(name) != kind) continue;
        const auto curve = [&](const TrialRecord& trial) {
          const auto found = trial.figures.find(name);
          return found == trial.figures.end() ? nullptr : &found->second;
        };
        ChartSeries series = series_over_trials(row, chart.series.size(), curve);
        series.name = without_last_part(name);
        // One mark for about every fiftieth of the way is enough to see a trend.
        const std::size_t every = series.marks.size() / 50 + 1;
        std::vector<ChartMark> some;
        for (std::size_t i = 0; i < series.marks.size(); i += every)
          some.push_back(series.marks[i]);
        series.marks = std::move(some);
        chart.series.push_back(std::move(series));
      }
      shorten_places(chart.series);
      if (chart.drawn_marks() > 0)
        charts.push_back(
            {file_name(task.name + "-" + row.name + "-" + kind),
             "What " + row.name + " reports of itself while it trains: " + kind + ", by layer.",
             std::move(chart)});
    }
  }
}

void add_growth(const std::string& family, const std::vector<const ComparedTask*>& tasks,
                const RowColours& colours, const std::string& what, const std::string& y_title,
                double (*value)(const ComparedRow&, double length),
                std::vector<ChartFigure>& charts) {
  Chart chart{.title = what + " against length " + family,
              .x_title = "tokens in a sequence",
              .y_title = y_title,
              .x_scale = Axis::Scale::log,
              .y_scale = Axis::Scale::log,
              .series = {}};
  for (const auto& [name, colour] : colours) {
    ChartSeries series{name, colour, {}};
    std::vector<std::pair<double, double>> points;
    bool moving = false;
    for (const ComparedTask* task : tasks)
      for (const ComparedRow& row : task->rows) {
        if (row.name != name || row.done.empty()) continue;
        moving = moving || row.moving;
        const double length = double(task->length);
        points.emplace_back(length, value(row, length));
        series.marks.push_back({length, value(row, length)});
      }
    std::ranges::sort(series.marks, {}, &ChartMark::x);
    if (const double power = fitted_exponent(points); std::isfinite(power))
      series.name += " n^" + format_fixed(power, 2);
    if (moving) series.name += " *";
    if (!series.marks.empty()) chart.series.push_back(std::move(series));
  }
  if (chart.drawn_marks() > 0)
    charts.push_back({file_name(family + "-" + what + "-length"),
                      "How " + what + " grows with the length, with fitted exponents.",
                      std::move(chart)});
}

}  // namespace

std::vector<ChartFigure> charts_of(const ComparedTask& task, const RowColours& colours) {
  std::vector<ChartFigure> charts;
  add_curves(task, colours, charts);
  add_trade_off(
      task, colours, "speed",
      "Quality against speed. Nothing beats those on the shaded front in both.",
      "tokens/s in training", true, [](const ComparedRow& row) { return row.tokens_per_s.mean; },
      charts);
  add_trade_off(
      task, colours, "memory", "Quality against the peak memory of a training step.", "peak MB",
      false, [](const ComparedRow& row) { return row.peak_bytes.mean / 1e6; }, charts);
  add_trade_off(
      task, colours, "flops",
      "Quality against the useful arithmetic of the whole training, by the cost model.", "Gflop",
      false, [](const ComparedRow& row) { return row.flops / 1e9; }, charts);
  add_recall(task, colours, charts);
  add_steps(task, colours, charts);
  if (Chart spans = span_chart(task, colours); spans.drawn_marks() > 0)
    charts.push_back(
        {file_name(task.name) + "-spans",
         "How far back each head reads when training ends, mean over seeds. The heads of a layer "
         "are around its number, from the shortest span to the longest.",
         std::move(spans)});
  add_figures(task, charts);
  return charts;
}

std::vector<ChartFigure> length_charts(const Comparison& comparison, const RowColours& colours) {
  std::map<std::string, std::vector<const ComparedTask*>> families;
  for (const ComparedTask& task : comparison.tasks) families[task.family].push_back(&task);
  std::vector<ChartFigure> charts;
  for (const auto& [family, tasks] : families) {
    std::set<Index> lengths;
    for (const ComparedTask* task : tasks) lengths.insert(task->length);
    if (lengths.size() < 2) continue;
    add_growth(
        family, tasks, colours, "time", "ms to train on a sequence",
        [](const ComparedRow& row, double length) { return 1e3 * length / row.tokens_per_s.mean; },
        charts);
    add_growth(
        family, tasks, colours, "memory", "peak MB of a training step",
        [](const ComparedRow& row, double) { return row.peak_bytes.mean / 1e6; }, charts);
  }
  return charts;
}

}  // namespace weft::experiments
