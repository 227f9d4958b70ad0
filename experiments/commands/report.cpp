#include <filesystem>
#include <iostream>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/commands/commands.h"
#include "experiments/config/variations.h"
#include "experiments/console/command_line.h"
#include "experiments/report/advice.h"
#include "experiments/report/html_page.h"
#include "experiments/report/result_tables.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

/// The tables of all tasks, one after the other.
std::string all_tables(const Comparison& comparison, std::string (*write)(const Table&),
                       Table (*make)(const Comparison&, const ComparedTask&)) {
  std::string text;
  for (const ComparedTask& task : comparison.tasks) {
    if (!text.empty()) text += '\n';
    text += write(make(comparison, task));
  }
  return text;
}

/// "results/table.md" -> "results/table-times.md"
fs::path beside(const fs::path& path) {
  return path.parent_path() / (path.stem().string() + "-times" + path.extension().string());
}

void write(const fs::path& path, const std::string& text) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  core::write_durably(path, text);
  std::cerr << "wrote " << path.string() << '\n';
}

void write_tables(const fs::path& path, const Comparison& comparison,
                  std::string (*form)(const Table&)) {
  write(path, all_tables(comparison, form, result_table));
  write(beside(path), all_tables(comparison, form, measured_table));
}

void write_pictures(const fs::path& folder, const Report& report) {
  fs::create_directories(folder);
  std::vector<std::vector<ReportChart>> all = report.charts;
  all.push_back(report.lengths);
  for (const auto& charts : all)
    for (const ReportChart& chart : charts)
      core::write_durably(folder / (chart.file + ".svg"), svg_file(chart.chart));
  std::cerr << "wrote the pictures to " << folder.string() << '\n';
}

void write_output(const std::string& name, const Report& report) {
  const fs::path path = name;
  const std::string ending = path.extension().string();
  if (name.ends_with('/'))
    write_pictures(path, report);
  else if (ending == ".html")
    write(path, html_page(report));
  else if (ending == ".md")
    write_tables(path, report.comparison, markdown);
  else if (ending == ".tex")
    write_tables(path, report.comparison, latex);
  else if (ending == ".csv") {
    write(path, csv(result_values(report.comparison)));
    write(beside(path), csv(measured_values(report.comparison)));
  } else {
    throw core::Error("-o " + name +
                      ": the name must end in .html, .md, .tex, .csv, or / for a "
                      "folder of pictures");
  }
}

}  // namespace

int report_command(const Arguments& arguments) {
  CommandLine line(
      "weft report DIR",
      "Compares the trials of a sweep: mean and deviation over seeds, settings chosen "
      "on validation and scored on test. Prints the tables; -o writes them, and a page "
      "with pictures, to files. Result tables are the same bytes for the same trials; "
      "measured times are in separate files, NAME-times.");
  line.words(1, 1, "DIR")
      .option("by", "KEY", "the varied setting that names the rows (model.attention)")
      .option("metric", "M", "bits, loss, perplexity, accuracy, recall or sequence_accuracy (all)")
      .option("baseline", "NAME", "a row that the others are compared with, seed by seed")
      .option("output,o", "FILES",
              "comma-separated: report.html, table.md, table.tex, table.csv, pictures/");
  if (!line.parse(arguments)) return 0;
  const auto given = [&](const std::string& name) { return line.has(name) ? line.text(name) : ""; };
  const SweepRecord sweep = read_sweep(line.words()[0]);
  const Report report = make_report(
      sweep, {.by = given("by"), .metric = given("metric"), .baseline = given("baseline")});
  for (const ComparedTask& task : report.comparison.tasks) {
    std::cout << plain_text(result_table(report.comparison, task)) << '\n'
              << plain_text(measured_table(report.comparison, task));
    for (const std::string& sentence : advice_of(task)) std::cout << sentence << '\n';
    std::cout << '\n';
  }
  std::cout << (sweep.plan.budget.empty() ? "The trials have different budgets."
                                          : "Equal budgets: train." + sweep.plan.budget + ".")
            << '\n';
  for (const std::string& name : split_at_commas(given("output"))) write_output(name, report);
  return 0;
}

}  // namespace weft::experiments
