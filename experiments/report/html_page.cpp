#include "experiments/report/html_page.h"

#include <algorithm>

#include "experiments/report/advice.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/sample_pictures.h"

namespace weft::experiments {
namespace {

const char* const page_style = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,"Segoe UI","Helvetica Neue",sans-serif}
main{max-width:1240px;margin:0 auto;padding:2.5rem 1.5rem 5rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}
h2{font-size:1.35rem;margin:3.2rem 0 .8rem;padding-top:1rem;border-top:2px solid var(--ink)}
h3{font-size:1rem;margin:2rem 0 .5rem}
p{margin:.4rem 0;max-width:75ch}
.soft,figcaption,.remarks{color:var(--soft)}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 1.6rem;color:var(--soft);font-size:.92rem;margin:.8rem 0}
.facts b{color:var(--ink)}
.answers{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:1rem;margin:1.6rem 0}
.answer{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:1rem 1.2rem}
.answer h3{margin:0 0 .4rem}
.answer p:first-of-type{font-weight:600}
.scroll{overflow-x:auto;background:var(--panel);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.45rem .9rem;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
tr:last-child td{border-bottom:0}
td:first-child{font-weight:600}
td.long{white-space:normal;min-width:18rem}
.remarks{font-size:.88rem;margin:.6rem .2rem}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:1.2rem;
margin:1.4rem 0}
figure{margin:0;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:.9rem}
figcaption{font-size:.88rem;margin:0 0 .4rem}
img.sample{width:100%;max-width:22rem;image-rendering:pixelated;display:block;margin:auto}
code{font:.88em ui-monospace,"DejaVu Sans Mono",monospace;background:var(--line);padding:.1em .35em;
border-radius:4px}
details{margin-top:3rem}
summary{cursor:pointer;font-weight:600}
.bad{color:var(--c1);font-weight:600}
)css";

std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }

std::string html_table(const Table& table) {
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& cell : table.header) out += "<th>" + escaped(cell) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += (cell.size() > 40 ? "<td class=\"long\">" : "<td>") + escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.remarks.empty()) out += "<div class=\"remarks\">";
  for (const std::string& remark : table.remarks) out += escaped(remark) + " ";
  return out + (table.remarks.empty() ? "" : "</div>\n");
}

std::string pictures(const std::vector<ReportChart>& charts) {
  std::string out = "<div class=\"pictures\">\n";
  for (const ReportChart& picture : charts)
    out += "<figure id=\"" + escaped(picture.file) + "\"><figcaption>" + escaped(picture.caption) +
           "</figcaption>\n" + draw(picture.chart) + "</figure>\n";
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
    for (const std::string& sentence : advice_of(task)) out += paragraph(sentence);
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
  const std::string name = escaped(report.sweep.plan.name);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<link rel=\"icon\" href=\"data:,\"/>\n<title>" +
      name + "</title>\n<style>" + chart_style() + page_style +
      "</style>\n</head>\n<body>\n<main>\n";
  out += heading(report) + answers(report);
  for (std::size_t i = 0; i < report.comparison.tasks.size(); ++i) {
    const ComparedTask& task = report.comparison.tasks[i];
    out += "<h2>" + escaped(task.name) + "</h2>\n" +
           html_table(result_table(report.comparison, task)) + pictures(report.charts[i]) +
           sample_pictures(task) + "<h3>Measured</h3>\n" +
           html_table(measured_table(report.comparison, task));
  }
  if (!report.lengths.empty())
    out += "<h2>Growth with the length</h2>\n" + pictures(report.lengths);
  return out + every_trial(report.sweep) + "</main>\n</body>\n</html>\n";
}

}  // namespace weft::experiments
