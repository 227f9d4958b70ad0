#include <filesystem>
#include <functional>
#include <iostream>

#include "core/error.h"
#include "experiments/commands/chart_files.h"
#include "experiments/commands/commands.h"
#include "experiments/config/variations.h"
#include "experiments/console/columns.h"
#include "experiments/console/command_line.h"
#include "experiments/console/number_text.h"
#include "experiments/report/advice.h"
#include "experiments/report/html_page.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/tuning_table.h"
#include "experiments/run_pages/run_charts.h"
#include "experiments/run_pages/run_page.h"
#include "experiments/runs/run_list.h"
#include "experiments/sweep/equal_check.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

using Form = std::function<std::string(const Table&)>;

std::string joined(const std::vector<Table>& tables, const Form& form) {
  std::string text;
  for (const Table& table : tables) text += (text.empty() ? "" : "\n") + form(table);
  return text;
}

/// What came out, task by task, then every pair of rows, and what each row tried.
std::vector<Table> result_tables(const Report& report) {
  const Comparison& comparison = report.comparison;
  std::vector<Table> tables;
  for (const ComparedTask& task : comparison.tasks)
    tables.push_back(result_table(comparison, task));
  for (const ComparedTask& task : comparison.tasks)
    if (Table pairs = pair_table(task); !pairs.rows.empty()) tables.push_back(std::move(pairs));
  for (const ComparedTask& task : comparison.tasks)
    if (Table tried = tuning_table(report.sweep, comparison, task); !tried.rows.empty())
      tables.push_back(std::move(tried));
  return tables;
}

/// ("results/table.md", "times") -> "results/table-times.md"
fs::path beside(const fs::path& path, const std::string& name) {
  return path.parent_path() / (path.stem().string() + "-" + name + path.extension().string());
}

/// With what the sweep was made of and by; where and in how many pieces it ran does not change a
/// table.
std::string tex_with_command(Table table, const Report& report) {
  table.command = "made by " + report.sweep.plan.command + " and weft report";
  for (const std::string& program : report.sweep.programs)
    table.command += "; trained by " + program;
  return latex(table);
}

void write_tables(const fs::path& path, const Report& report, const Form& form) {
  std::vector<Table> measured;
  for (const ComparedTask& task : report.comparison.tasks)
    measured.push_back(measured_table(report.comparison, task));
  write_output_file(path, joined(result_tables(report), form));
  write_output_file(beside(path, "times"), joined(measured, form));
}

std::vector<ChartFigure> all_charts(const Report& report) {
  std::vector<ChartFigure> all;
  for (const auto& charts : report.charts) all.insert(all.end(), charts.begin(), charts.end());
  all.insert(all.end(), report.lengths.begin(), report.lengths.end());
  return all;
}

void write_output(const std::string& name, const Report& report,
                  const std::vector<std::string>& endings) {
  const fs::path path = name;
  const std::string ending = path.extension().string();
  if (names_pictures(name))
    write_pictures(name, all_charts(report), endings);
  else if (ending == ".html")
    write_output_file(path, html_page(report));
  else if (ending == ".md")
    write_tables(path, report, markdown);
  else if (ending == ".tex")
    write_tables(path, report, [&](const Table& table) { return tex_with_command(table, report); });
  else if (ending == ".csv") {
    write_output_file(path, csv(result_values(report.comparison)));
    write_output_file(beside(path, "pairs"), csv(pair_values(report.comparison)));
    if (!report.sweep.rungs.empty())
      write_output_file(beside(path, "tuning"),
                        csv(tuning_values(report.sweep, report.comparison)));
    write_output_file(beside(path, "times"), csv(measured_values(report.comparison)));
  } else {
    throw core::Error("-o " + name +
                      ": the name must end in .html, .md, .tex, .csv, .svg, .pdf, .png, or / for a "
                      "folder of pictures");
  }
}

int report_sweep(const CommandLine& line, const std::vector<std::string>& endings) {
  const auto given = [&](const std::string& name) { return line.has(name) ? line.text(name) : ""; };
  const SweepRecord sweep = read_sweep(line.words()[0]);
  const Report report = make_report(
      sweep, {.by = given("by"), .metric = given("metric"), .baseline = given("baseline")});
  for (const ComparedTask& task : report.comparison.tasks) {
    std::cout << plain_text(result_table(report.comparison, task)) << '\n';
    if (const Table pairs = pair_table(task); pairs.rows.size() > 1)
      std::cout << plain_text(pairs) << '\n';
    if (const Table tried = tuning_table(sweep, report.comparison, task); !tried.rows.empty())
      std::cout << plain_text(tried) << '\n';
    std::cout << plain_text(measured_table(report.comparison, task));
    for (const std::string& sentence : advice_of(task)) std::cout << sentence << '\n';
    std::cout << '\n';
  }
  std::cout << (sweep.plan.budget.empty() ? "The trials have different budgets."
                                          : "Equal budgets: train." + sweep.plan.budget + ".")
            << '\n';
  if (sweep.plan.equal) std::cout << describe_equal(sweep.plan) << '\n';
  for (const std::string& name : split_at_commas(given("output")))
    write_output(name, report, endings);
  return 0;
}

/// The runs that the words name, themselves or by a folder above them.
std::vector<RunRecord> runs_of(const std::vector<std::string>& words) {
  constexpr std::size_t most = 24;
  std::vector<RunRecord> runs;
  for (const std::string& word : words) {
    if (holds_run(word)) {
      runs.push_back(read_run(word));
      continue;
    }
    const std::vector<RunSummary> below = find_runs(word);
    core::require(!below.empty(), "neither a run nor a sweep at ", word);
    for (const RunSummary& run : below) runs.push_back(read_run(run.directory));
  }
  core::require(runs.size() <= most, "a page of ", runs.size(), " runs would show little: at most ",
                most, " fit side by side");
  return runs;
}

int report_runs(const CommandLine& line, const std::vector<std::string>& endings) {
  for (const char* const option : {"by", "metric", "baseline"})
    core::require(!line.has(option), "--", option, " is for sweeps, not for runs");
  const std::vector<RunRecord> runs = runs_of(line.words());
  std::vector<std::vector<std::string>> rows{{"run", "state", "step", "best loss", "trained"}};
  for (const RunRecord& run : runs)
    rows.push_back({run.name, run.state, std::to_string(run.step),
                    format_fixed(best_validation(run), 4), format_duration(run.seconds)});
  std::cout << format_columns(rows, 40);
  for (const std::string& name : split_at_commas(line.has("output") ? line.text("output") : ""))
    if (names_pictures(name))
      write_pictures(name, run_charts(runs), endings);
    else if (fs::path(name).extension() == ".html")
      write_output_file(name, run_page(runs));
    else
      throw core::Error("-o " + name +
                        ": of runs there are .html, .svg, .pdf, .png, or / for a folder of "
                        "pictures; tables are made of sweeps");
  return 0;
}

}  // namespace

int report_command(const Arguments& arguments) {
  CommandLine line(
      "weft report SWEEP | RUN...",
      "Compares the trials of a sweep: mean and deviation over seeds, settings chosen "
      "on validation and scored on test. Prints the tables; -o writes them, and a page "
      "with pictures, to files. Result tables are the same bytes for the same trials; "
      "measured times are in separate files, NAME-times; the pairs of a table.csv in NAME-pairs. "
      "For RUN..., it shows the measurements of one run, or of several side by side.");
  line.words(1, 1000, "SWEEP or RUN")
      .option("by", "KEY", "the varied setting that names the rows (model.attention)")
      .option("metric", "M", "bits, loss, perplexity, accuracy, recall or sequence_accuracy (all)")
      .option("baseline", "NAME", "a row that the others are compared with, seed by seed")
      .option("output,o", "FILES",
              "comma-separated: report.html, table.md, table.tex, table.csv, pictures/ or one "
              "picture by its name")
      .option("pictures", "KINDS", "of a folder of pictures: svg, pdf, png", "svg");
  if (!line.parse(arguments)) return 0;
  const std::vector<std::string> endings = picture_endings(line.text("pictures"));
  const fs::path first = line.words()[0];
  const bool is_sweep = line.words().size() == 1 && !holds_run(first) &&
                        (fs::exists(SweepFiles{first}.plan()) || !fs::is_directory(first));
  return is_sweep ? report_sweep(line, endings) : report_runs(line, endings);
}

}  // namespace weft::experiments
