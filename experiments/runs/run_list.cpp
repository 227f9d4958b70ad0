#include "experiments/runs/run_list.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/checkpoint/list.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 6;  // sweeps/NAME/trials/ID, and some folders above

std::optional<double> best_validation(const fs::path& list) {
  std::optional<double> best;
  std::error_code ignored;
  if (!fs::is_regular_file(list, ignored)) return best;
  try {
    for (const CheckpointEntry& entry : parse_checkpoint_list(core::read_text_file(list)))
      if (entry.validation && (!best || *entry.validation < *best)) best = entry.validation;
  } catch (const core::Error&) {
    // A damaged list is what weft ckpt verify is for.
  }
  return best;
}

void collect(const fs::path& directory, int depth, std::vector<RunSummary>& found) {
  if (holds_run(directory)) {
    found.push_back(summarise_run(directory));
    return;
  }
  std::error_code ignored;
  if (depth == deepest) return;
  for (const auto& item : fs::directory_iterator(directory, ignored))
    if (item.is_directory(ignored) && !item.is_symlink(ignored))
      collect(item.path(), depth + 1, found);
}

}  // namespace

RunSummary summarise_run(const fs::path& directory) {
  const RunFiles files{directory};
  const RunStatus status = read_status(files);
  RunSummary run{.directory = directory, .state = state_now(files, status), .step = status.step};
  if (run.state.empty()) run.state = "unknown";
  run.best = best_validation(files.checkpoints() / "last.json");
  fs::file_time_type newest = fs::file_time_type::min();
  std::error_code error;
  for (fs::recursive_directory_iterator item(directory, error), end; !error && item != end;
       item.increment(error)) {
    std::error_code ignored;
    if (!item->is_regular_file(ignored) || item->is_symlink(ignored)) continue;
    const auto bytes = item->file_size(ignored);
    if (!ignored) run.bytes += core::Index(bytes);
    const auto written = item->last_write_time(ignored);
    if (!ignored) newest = std::max(newest, written);
  }
  if (newest != fs::file_time_type::min())
    run.age = std::chrono::duration<double>(fs::file_time_type::clock::now() - newest).count();
  return run;
}

std::vector<RunSummary> find_runs(const fs::path& root) {
  core::require(fs::is_directory(root), "there is no directory ", root.string());
  std::vector<RunSummary> found;
  collect(root, 0, found);
  std::ranges::sort(found, {}, &RunSummary::directory);
  return found;
}

double parse_age(const std::string& text) {
  double count = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(rest, text.data() + text.size());
  const double seconds = unit == "d"   ? 86400
                         : unit == "h" ? 3600
                         : unit == "m" ? 60
                         : unit == "s" ? 1
                                       : 0;
  core::require(fault == std::errc() && seconds > 0 && count >= 0, "\"", text,
                "\" is no age; write 7d, 12h, 30m or 45s");
  return count * seconds;
}

}  // namespace weft::experiments
