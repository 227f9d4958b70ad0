// Folders that somebody else made: a sweep as the report reads it, a run as `runs`, `ckpt` and a
// resume do. An input is the files one after the other, each below a line "== NAME".
#include "experiments/checkpoint/store.h"
#include "experiments/report/advice.h"
#include "experiments/report/html_page.h"
#include "experiments/report/result_tables.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/resumed_config.h"
#include "experiments/run/run_files.h"
#include "experiments/runs/run_list.h"
#include "experiments/sweep/plan.h"
#include "experiments/watch/watched.h"
#include "tests/fuzz/fuzzers.h"
#include "tests/fuzz/scratch.h"

namespace weft::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace experiments;

/// A name inside the folder: what is outside is none of the input's.
bool stays_inside(std::string_view name) {
  const bool plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_./") == std::string_view::npos;
  return plain && !name.empty() && name.size() < 64 && name.front() != '/' && name.back() != '/' &&
         name.find("..") == std::string_view::npos && name.find("//") == std::string_view::npos;
}

/// Lays out the files of an input in a folder of their own.
fs::path lay_out(const std::string& folder, std::string_view input) {
  constexpr std::string_view mark = "== ";
  fs::remove_all(scratch_folder() / folder);
  fs::create_directories(scratch_folder() / folder);
  while (input.starts_with(mark)) {
    const std::size_t line = std::min(input.find('\n'), input.size());
    const std::string name(input.substr(mark.size(), line - std::min(line, mark.size())));
    input.remove_prefix(std::min(line + 1, input.size()));
    std::size_t end = input.starts_with(mark) ? 0 : input.find("\n== ");
    end = end == std::string_view::npos ? input.size() : end + (end > 0 ? 1 : 0);
    std::error_code taken;
    const fs::path path = scratch_folder() / folder / name;
    if (stays_inside(name) && !fs::exists(path, taken) && !taken) {
      fs::create_directories(path.parent_path(), taken);
      if (!taken) scratch_file(folder + "/" + name, input.substr(0, end));
    }
    input.remove_prefix(end);
  }
  return scratch_folder() / folder;
}

void watch(const fs::path& folder) {
  Watched watched(folder);
  const WatchedState state = watched.look();
  watched_body(state);
  watched_lines(state);
}

}  // namespace

void fuzz_sweep_folder(std::string_view input) {
  const fs::path folder = lay_out("sweep", input);
  watch(folder);
  const SweepRecord sweep = read_sweep(folder);
  const Report report = make_report(sweep, {});
  for (const ComparedTask& task : report.comparison.tasks) {
    for (const Table& table :
         {result_table(report.comparison, task), measured_table(report.comparison, task)})
      plain_text(table), markdown(table), latex(table);
    advice_of(task);
  }
  csv(result_values(report.comparison)), csv(measured_values(report.comparison));
  html_page(report);
}

void fuzz_run_folder(std::string_view input) {
  const fs::path folder = lay_out("run", input);
  const RunFiles files{folder};
  watch(folder);
  for (const RunSummary& run : find_runs(folder)) demand(run.bytes >= 0, "a size below 0");
  const std::vector<MetricRecord> records = read_metrics(files.metrics());
  demand(!last_record(files.metrics()) || !records.empty(), "a last record of none");
  cut_metrics_back(files.metrics(), 3, "final_validation");
  for (const MetricRecord& record : read_metrics(files.metrics()))
    demand(record.step <= 3, "a record that was cut off");
  read_starts(files);
  record_start(files, {{"cpu", std::string("one")}});
  demand(!read_starts(files).empty(), "a start that was not recorded");
  write_status(files, read_status(files));
  find_run(folder);
  std::vector<std::string> warnings;
  CheckpointStore store(files.checkpoints(), 2, 1);
  store.best();
  store.load_last(warnings);
}

}  // namespace weft::fuzz
