#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/console/columns.h"
#include "experiments/console/number_text.h"
#include "experiments/draw/markup.h"
#include "experiments/draw/page.h"
#include "experiments/run_pages/run_page.h"
#include "experiments/watch/watched.h"

namespace weft::experiments {
namespace {

std::string share_text(Index step, Index steps) {
  return steps > 0 ? format_fixed(100 * double(step) / double(steps), 0) + " %" : "";
}

/// "24 trials: 17 done, 1 failed, 2 running, 4 waiting"
std::string summary_of(const WatchedState& state) {
  std::map<std::string, int> counts;
  for (const WatchedTrial& trial : state.trials) ++counts[trial.state];
  std::string text = format_number_of(double(state.trials.size()), "trial");
  const char* before = ": ";
  for (const auto& [name, count] : counts) {
    text += before + std::to_string(count) + " " + name;
    before = ", ";
  }
  if (state.seconds_left >= 0) text += "; about " + format_duration(state.seconds_left) + " left";
  return text;
}

std::vector<std::string> cells_of(const WatchedTrial& trial) {
  return {trial.label,
          trial.state,
          share_text(trial.step, trial.steps),
          std::to_string(trial.step) + "/" + std::to_string(trial.steps),
          std::isfinite(trial.best) ? format_fixed(trial.best, 4) : "",
          trial.seconds_left >= 0 ? format_duration(trial.seconds_left) : "",
          trial.id,
          trial.reason};
}

/// The columns in which no row says anything.
void leave_out_empty_columns(Table& table) {
  for (std::size_t column = table.header.size(); column-- > 0;) {
    const auto is_empty = [&](const auto& row) { return row[column].empty(); };
    if (!std::ranges::all_of(table.rows, is_empty)) continue;
    table.header.erase(table.header.begin() + std::ptrdiff_t(column));
    for (auto& row : table.rows) row.erase(row.begin() + std::ptrdiff_t(column));
  }
}

std::string bar_text(Index step, Index steps) {
  constexpr Index cells = 20;
  const Index full = steps > 0 ? std::min(cells, cells * step / steps) : 0;
  std::string text;
  for (Index i = 0; i < cells; ++i) text += i < full ? "█" : "░";
  return text;
}

std::vector<std::string> lines_of(const RunRecord& run) {
  std::string head = run.name + "  " + run.state + "  step " + std::to_string(run.step);
  if (run.steps > 0)
    head += "/" + std::to_string(run.steps) + "  " + bar_text(run.step, run.steps) + "  " +
            share_text(run.step, run.steps);
  if (const double left = run.seconds_left(); left >= 0)
    head += "  " + format_duration(left) + " left";
  std::vector<std::string> lines{head};
  if (!run.status.reason.empty()) lines.push_back("  " + run.status.reason);
  constexpr std::size_t width = 32;
  const auto add = [&](const char* metric, const char* name, int decimals) {
    const Curve* const curve = run.curve(metric);
    if (!curve) return;
    const double newest = curve->values.back();
    const std::string shown = decimals < 0 ? format_count(newest) : format_fixed(newest, decimals);
    std::string line = std::string("  ") + name;
    line.resize(16, ' ');
    lines.push_back(line + shown + std::string(shown.size() < 9 ? 9 - shown.size() : 1, ' ') +
                    sparkline(curve->values, width));
  };
  add("loss", "loss", 4);
  add("validation_loss", "validation", 4);
  add("validation_accuracy", "accuracy", 4);
  add("lr", "learning rate", 6);
  add("gradient_norm", "gradient norm", 3);
  add("tokens_per_s", "tokens/s", -1);
  return lines;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  static const char* const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  // Each bar is the mean of neighbours.
  const std::size_t each = std::max<std::size_t>(1, (values.size() + width - 1) / width);
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += each) {
    double sum = 0;
    std::size_t n = 0;
    for (std::size_t k = i; k < std::min(values.size(), i + each); ++k)
      if (std::isfinite(values[k])) sum += values[k], ++n;
    if (n > 0) means.push_back(sum / double(n));
  }
  if (means.empty()) return "";
  const auto [low, high] = std::ranges::minmax(means);
  std::string text;
  for (const double mean : means)
    text += bars[high > low ? std::size_t(std::min(7.0, 8 * (mean - low) / (high - low))) : 3];
  return text;
}

std::string watched_body(const WatchedState& state) {
  if (!state.is_sweep && state.runs.empty())
    return "<h1>" + escaped(state.title) + "</h1>\n" +
           html_paragraph("Nothing is there yet; this page shows it as soon as it appears.");
  if (!state.is_sweep) return run_body(state.runs);
  Table table{
      "", {"trial", "state", "progress", "step", "best loss", "left", "id", "reason"}, {}, {}};
  for (const WatchedTrial& trial : state.trials) table.rows.push_back(cells_of(trial));
  leave_out_empty_columns(table);
  std::string out = "<h1>" + escaped(state.title) + "</h1>\n<p>" + escaped(summary_of(state)) +
                    "</p>\n" + html_table(table);
  if (state.runs.empty()) return out;
  const std::string shown = state.runs.size() < state.trials.size()
                                ? std::to_string(state.runs.size()) + " of " +
                                      std::to_string(state.trials.size()) + " trials"
                                : "all trials";
  return out + "<h2>Curves of " + shown + "</h2>\n" + run_figures(state.runs);
}

std::vector<std::string> watched_lines(const WatchedState& state) {
  std::vector<std::string> lines;
  if (state.is_sweep) {
    lines.push_back(state.title + "  " + summary_of(state));
    std::vector<std::vector<std::string>> rows;
    for (const WatchedTrial& trial : state.trials)
      if (trial.state != "done" && trial.state != "waiting") rows.push_back(cells_of(trial));
    std::string text = rows.empty() ? "" : format_columns(rows, 40);
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      lines.push_back("  " + text.substr(0, end));
  }
  for (const RunRecord& run : state.runs) {
    if (state.is_sweep && run.state != "running") continue;
    for (std::string& line : lines_of(run)) lines.push_back(std::move(line));
  }
  if (lines.empty()) lines.push_back(state.title + ": nothing is there yet");
  return lines;
}

}  // namespace weft::experiments
