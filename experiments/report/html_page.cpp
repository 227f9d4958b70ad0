#include "experiments/report/html_page.h"

#include <algorithm>

#include "experiments/draw/markup.h"
#include "experiments/draw/page.h"
#include "experiments/report/advice.h"
#include "experiments/report/doubts.h"
#include "experiments/report/reading_pictures.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/sample_pictures.h"
#include "experiments/report/score_text.h"
#include "experiments/report/tuning_table.h"
#include "experiments/sweep/equal_check.h"

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
  const auto done = count(TrialState::Phase::done);
  const auto diverged = std::ranges::count_if(
      sweep.trials, [](const TrialRecord& trial) { return trial.state.diverged; });
  const auto failed = count(TrialState::Phase::failed) - diverged;
  const auto pruned = std::ranges::count(sweep.trials, Turn::pruned, &TrialRecord::turn);
  const auto open = std::ptrdiff_t(sweep.trials.size()) - done - failed - diverged - pruned;
  std::string out = "<h1>" + escaped(sweep.plan.name) + ": which " + escaped(report.comparison.by) +
                    "?</h1>\n<div class=\"facts\">";
  out += "<span><b>" + std::to_string(done) + "</b> trials done</span>";
  if (failed > 0) out += "<span class=\"bad\">" + std::to_string(failed) + " failed</span>";
  if (diverged > 0) out += "<span class=\"bad\">" + std::to_string(diverged) + " diverged</span>";
  if (pruned > 0) out += "<span>" + std::to_string(pruned) + " pruned</span>";
  if (!sweep.rungs.empty())
    out += "<span><b>" + std::to_string(sweep.rungs.size()) + "</b> trials to tune</span>";
  if (open > 0) out += "<span class=\"bad\">" + std::to_string(open) + " not finished</span>";
  out += sweep.plan.budget.empty()
             ? "<span class=\"bad\">the budgets of the trials differ</span>"
             : "<span>equal budget: <b>train." + escaped(sweep.plan.budget) + "</b></span>";
  if (sweep.plan.equal) out += "<span>" + escaped(describe_equal(sweep.plan)) + "</span>";
  for (const std::string& machine : sweep.machines) out += "<span>" + escaped(machine) + "</span>";
  return out + "</div>\n<p class=\"soft\">Made by <code>" +
         escaped(sweep.plan.command + sweep.plan.options) +
         "</code> and <code>weft report</code>.</p>\n";
}

/// The verdict on every task, each with its doubts in one card.
std::string answers(const Report& report) {
  std::string out = "<div class=\"answers\">\n";
  for (const ComparedTask& task : report.comparison.tasks) {
    out += "<div class=\"answer\"><h3>" + escaped(task.name) + "</h3>\n";
    for (const std::string& sentence : advice_of(task)) out += html_paragraph(sentence);
    for (const Doubt& doubt : doubts_of(task))
      out += "<p><span class=\"bad\">Doubt:</span> " + escaped(doubt.text) + ".</p>\n";
    out += "</div>\n";
  }
  return out + "</div>\n";
}

std::string every_trial(const SweepRecord& sweep) {
  Table table{"", {"trial", "settings", "state", "bits", "reason"}, {}, {}};
  for (const TrialRecord& trial : sweep.trials) {
    using Phase = TrialState::Phase;
    const Phase phase = trial.state.phase;
    const std::string state = trial.turn == Turn::pruned ? "pruned"
                              : trial.state.diverged     ? "diverged"
                              : phase == Phase::done     ? "done"
                              : phase == Phase::failed   ? "failed"
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

std::string folded(const std::string& summary, const Table& table) {
  if (table.rows.empty()) return "";
  return "<details><summary>" + summary + "</summary>\n" + html_table(table) + "</details>\n";
}

}  // namespace

std::string html_page(const Report& report) {
  std::string out = heading(report) + answers(report);
  for (std::size_t i = 0; i < report.comparison.tasks.size(); ++i) {
    const ComparedTask& task = report.comparison.tasks[i];
    out += "<h2>" + escaped(task.name) + "</h2>\n" +
           html_table(result_table(report.comparison, task)) + pictures(report.charts[i]) +
           folded("Every pair", pair_table(task)) +
           folded("What each tried", tuning_table(report.sweep, report.comparison, task)) +
           sample_pictures(task) + reading_pictures(task) + "<h3>Measured</h3>\n" +
           html_table(measured_table(report.comparison, task));
  }
  if (!report.lengths.empty())
    out += "<h2>Growth with the length</h2>\n" + pictures(report.lengths);
  return html_page(report.sweep.plan.name, out + every_trial(report.sweep));
}

}  // namespace weft::experiments
