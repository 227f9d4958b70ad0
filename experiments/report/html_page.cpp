#include "experiments/report/html_page.h"

#include <algorithm>

#include "experiments/draw/markup.h"
#include "experiments/draw/page.h"
#include "experiments/report/advice.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/sample_pictures.h"

namespace weft::experiments {
namespace {

std::string pictures(const std::vector<ChartFigure>& charts) {
  std::string out = "<div class=\"pictures\">\n";
  for (const ChartFigure& picture : charts)
    out += html_figure(picture.file, picture.caption, draw(picture.chart));
  return out + "</div>\n";
}

std::string heading(const Report& report) {
  const SweepRecord& sweep = report.sweep;
  const auto count = [&](TrialState::Phase phase) {
    return std::ranges::count_if(sweep.trials,
                                 [&](const TrialRecord& t) { return t.state.phase == phase; });
  };
  const auto done = count(TrialState::Phase::done), failed = count(TrialState::Phase::failed);
  const auto open = std::ptrdiff_t(sweep.trials.size()) - done - failed;
  std::string out = "<h1>" + escaped(sweep.plan.name) + ": which " + escaped(report.comparison.by) +
                    "?</h1>\n<div class=\"facts\">";
  out += "<span><b>" + std::to_string(done) + "</b> trials done</span>";
  if (failed > 0) out += "<span class=\"bad\">" + std::to_string(failed) + " failed</span>";
  if (open > 0) out += "<span class=\"bad\">" + std::to_string(open) + " not finished</span>";
  out += sweep.plan.budget.empty()
             ? "<span class=\"bad\">the budgets of the trials differ</span>"
             : "<span>equal budget: <b>train." + escaped(sweep.plan.budget) + "</b></span>";
  for (const std::string& machine : sweep.machines) out += "<span>" + escaped(machine) + "</span>";
  return out + "</div>\n<p class=\"soft\">Made by <code>" + escaped(sweep.plan.command) +
         "</code> and <code>weft report</code>.</p>\n";
}

std::string answers(const Report& report) {
  std::string out = "<div class=\"answers\">\n";
  for (const ComparedTask& task : report.comparison.tasks) {
    out += "<div class=\"answer\"><h3>" + escaped(task.name) + "</h3>\n";
    for (const std::string& sentence : advice_of(task)) out += html_paragraph(sentence);
    out += "</div>\n";
  }
  return out + "</div>\n";
}

std::string every_trial(const SweepRecord& sweep) {
  Table table{"", {"trial", "settings", "state", "bits", "reason"}, {}, {}};
  for (const TrialRecord& trial : sweep.trials) {
    using Phase = TrialState::Phase;
    const Phase phase = trial.state.phase;
    const std::string state = phase == Phase::done     ? "done"
                              : phase == Phase::failed ? "failed"
                                                       : "not finished";
    const auto bits = trial.scores.find("bits");
    table.rows.push_back(
        {trial.plan.id, trial.plan.label(), state,
         bits == trial.scores.end()
             ? "—"
             : format_score("bits", Statistic::of(std::vector<double>{bits->second})),
         trial.state.reason});
  }
  return "<details><summary>Every trial</summary>\n" + html_table(table) + "</details>\n";
}

}  // namespace

std::string html_page(const Report& report) {
  std::string out = heading(report) + answers(report);
  for (std::size_t i = 0; i < report.comparison.tasks.size(); ++i) {
    const ComparedTask& task = report.comparison.tasks[i];
    out += "<h2>" + escaped(task.name) + "</h2>\n" +
           html_table(result_table(report.comparison, task)) + pictures(report.charts[i]) +
           sample_pictures(task) + "<h3>Measured</h3>\n" +
           html_table(measured_table(report.comparison, task));
  }
  if (!report.lengths.empty())
    out += "<h2>Growth with the length</h2>\n" + pictures(report.lengths);
  return html_page(report.sweep.plan.name, out + every_trial(report.sweep));
}

}  // namespace weft::experiments
