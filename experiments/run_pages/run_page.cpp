#include "experiments/run_pages/run_page.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/files/base64.h"
#include "experiments/console/number_text.h"
#include "experiments/draw/markup.h"
#include "experiments/draw/page.h"
#include "experiments/run_pages/run_charts.h"

namespace weft::experiments {
namespace {

std::string fact(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return "";
  return std::visit([](const auto& value) { return core::message_of(value); }, found->second);
}

std::string span(const std::string& text, const std::string& kind = "") {
  return (kind.empty() ? "<span>" : "<span class=\"" + kind + "\">") + escaped(text) + "</span>";
}

std::string progress_text(const RunRecord& run) {
  return std::to_string(run.step) + (run.steps > 0 ? " of " + std::to_string(run.steps) : "");
}

std::string kind_of_state(const std::string& state) {
  if (state == "finished" || state == "running") return "good";
  return state == "stopped" ? "" : "bad";
}

std::string bar(const RunRecord& run) {
  if (run.steps <= 0) return "";
  const double share = std::min(1.0, double(run.step) / double(run.steps));
  return "<div class=\"bar\"><div style=\"width:" + format_fixed(100 * share, 1) +
         "%\"></div></div>\n";
}

std::string facts_of(const RunRecord& run) {
  std::string out = "<div class=\"facts\">" + span(run.state, kind_of_state(run.state));
  out += span("step " + progress_text(run));
  if (const double best = best_validation(run); std::isfinite(best))
    out += span("best validation loss " + format_fixed(best, 4));
  if (run.seconds > 0) out += span("trained for " + format_duration(run.seconds));
  if (const double left = run.seconds_left(); left >= 0)
    out += span("about " + format_duration(left) + " left");
  if (const std::string n = fact(run.start, "parameters"); !n.empty())
    out += span(format_count(std::stod(n)) + " parameters");
  std::string machine;
  for (const char* const name : {"cpu", "isa", "blas"})
    if (const std::string text = fact(run.start, name); !text.empty())
      machine += (machine.empty() ? "" : ", ") + text;
  if (!machine.empty()) out += span(machine);
  std::string program = fact(run.start, "version");
  if (const std::string commit = fact(run.start, "commit"); !commit.empty())
    program += " (" + commit + ", " + fact(run.start, "compiler") + ")";
  if (!program.empty()) out += span("weft " + program);
  return out + "</div>\n";
}

std::string heading(const RunRecord& run) {
  std::string out = "<h1>" + escaped(run.name) + "</h1>\n" + facts_of(run) + bar(run);
  if (!run.status.reason.empty())
    out += "<p class=\"bad\">" + escaped(run.status.reason) + "</p>\n" +
           html_paragraph(run.status.advice);
  if (const std::string command = fact(run.start, "command"); !command.empty())
    out += "<p class=\"soft\">Started by <code>" + escaped(command) + "</code>.</p>\n";
  return out;
}

std::string table_of(const std::vector<RunRecord>& runs) {
  Table table{
      "", {"run", "state", "step", "best validation loss", "tokens/s", "trained", "left"}, {}, {}};
  for (const RunRecord& run : runs) {
    const double best = best_validation(run), left = run.seconds_left();
    const Curve* const speed = run.curve("tokens_per_s");
    table.rows.push_back({run.name, run.state, progress_text(run),
                          std::isfinite(best) ? format_fixed(best, 4) : "—",
                          speed ? format_count(speed->values.back()) : "—",
                          format_duration(run.seconds), left >= 0 ? format_duration(left) : "—"});
  }
  return html_table(table);
}

std::string title_of(const std::vector<RunRecord>& runs) {
  return std::to_string(runs.size()) + " runs";
}

std::string settings_of(const std::vector<RunRecord>& runs) {
  Table table{"", {"setting"}, {}, {}};
  for (const RunRecord& run : runs) table.header.push_back(run.name);
  if (runs.size() > 1) {
    Table lone = table;  // settings that some runs do not have
    for (auto& row : differing_settings(runs))
      (std::ranges::find(row, "—") == row.end() ? table : lone).rows.push_back(std::move(row));
    std::string out = "<h2>Settings that differ</h2>\n" +
                      (table.rows.empty() ? html_paragraph("None.") : html_table(table));
    if (!lone.rows.empty())
      out += "<details><summary>Settings that only some have</summary>\n" + html_table(lone) +
             "</details>\n";
    return out;
  }
  for (const auto& [key, value] : runs[0].settings) table.rows.push_back({key, value});
  if (table.rows.empty()) return "";
  return "<details><summary>Every setting</summary>\n" + html_table(table) + "</details>\n";
}

/// The first, the newest and some between them.
std::vector<const RunSample*> some_samples(const RunRecord& run) {
  constexpr std::size_t most = 8;
  std::vector<const RunSample*> some;
  const std::size_t n = run.samples.size(), shown = std::min(n, most);
  for (std::size_t i = 0; i < shown; ++i)
    some.push_back(&run.samples[shown == 1 ? n - 1 : i * (n - 1) / (shown - 1)]);
  return some;
}

std::string samples_of(const RunRecord& run) {
  std::string figures;
  for (const RunSample* const sample : some_samples(run)) {
    figures += "<figure class=\"sampled\"><figcaption>step " + std::to_string(sample->step) +
               "</figcaption>\n";
    constexpr std::size_t longest = 1500;
    figures += sample->is_picture
                   ? "<img class=\"sample\" alt=\"sample\" src=\"data:image/png;base64," +
                         core::base64(sample->content) + "\"/>"
                   : "<pre>" + escaped_lines(shortened(sample->content, longest)) + "</pre>";
    figures += "</figure>\n";
  }
  return figures;
}

std::string all_samples(const std::vector<RunRecord>& runs) {
  std::string out;
  for (const RunRecord& run : runs) {
    const std::string own = samples_of(run);
    if (own.empty()) continue;
    if (runs.size() > 1) out += "<h3>" + escaped(run.name) + "</h3>\n";
    out += "<div class=\"pictures\">\n" + own + "</div>\n";
  }
  return out.empty() ? "" : "<h2>Samples over time</h2>\n" + out;
}

}  // namespace

double best_validation(const RunRecord& run) {
  double best = std::numeric_limits<double>::infinity();
  if (const Curve* const curve = run.curve("validation_loss"))
    for (const double value : curve->values)
      if (value < best) best = value;
  return std::isfinite(best) ? best : std::numeric_limits<double>::quiet_NaN();
}

std::string run_figures(const std::vector<RunRecord>& runs) {
  std::string out = "<div class=\"pictures\">\n";
  const std::vector<ChartFigure> charts = run_charts(runs);
  for (const ChartFigure& chart : charts)
    out += html_figure(chart.file, chart.caption, draw(chart.chart));
  if (charts.empty()) out += html_paragraph("Nothing has been measured yet.");
  return out + "</div>\n" + all_samples(runs);
}

std::string run_body(const std::vector<RunRecord>& runs) {
  if (runs.size() == 1) return heading(runs[0]) + run_figures(runs) + settings_of(runs);
  return "<h1>" + title_of(runs) + "</h1>\n" + table_of(runs) + settings_of(runs) +
         run_figures(runs);
}

std::string run_page(const std::vector<RunRecord>& runs) {
  return html_page(runs.size() == 1 ? runs[0].name : title_of(runs), run_body(runs));
}

}  // namespace weft::experiments
