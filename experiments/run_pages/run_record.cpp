#include "experiments/run_pages/run_record.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/evaluate/span_report.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_sample = 1 << 20;

void take(const MetricRecord& metrics, const std::string& name, const MetricValue& value,
          RunRecord& run) {
  if (std::holds_alternative<std::string>(value)) return;
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    if (const auto layer = layer_with_spans(name))
      run.spans[*layer].emplace_back(metrics.step, *list);
    else
      run.lists[name] = *list;
    return;
  }
  auto& curves = name.starts_with("layers.") ? run.figures : run.curves;
  curves[name].add(metrics.step, metrics.number(name));
}

void take_metrics(RunRecord& run) {
  double tokens_before = 0;
  Index step_before = 0;
  for (const MetricRecord& metrics : read_metrics(RunFiles{run.directory}.metrics())) {
    run.step = std::max(run.step, metrics.step);
    for (const auto& [name, value] : metrics.values) take(metrics, name, value, run);
    if (!metrics.has("tokens_per_s")) continue;
    const double tokens = metrics.number("tokens"), speed = metrics.number("tokens_per_s");
    if (metrics.step > step_before && speed > 0) {
      run.tokens_per_step = tokens / double(metrics.step);
      run.seconds += (tokens - tokens_before) / speed;
    }
    tokens_before = tokens;
    step_before = metrics.step;
  }
}

void take_samples(RunRecord& run) {
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(RunFiles{run.directory}.samples(), fault)) {
    RunSample sample;
    const std::string name = entry.path().stem().string(), ending = entry.path().extension();
    const auto [rest, unread] =
        std::from_chars(name.data(), name.data() + name.size(), sample.step);
    sample.is_picture = ending == ".png";
    if (unread != std::errc() || (ending != ".txt" && ending != ".png")) continue;
    std::error_code ignored;
    if (!entry.is_regular_file(ignored) || entry.file_size(ignored) > largest_sample) continue;
    try {
      sample.content = core::read_text_file(entry.path());
    } catch (const core::Error&) {
      continue;  // it went away
    }
    run.samples.push_back(std::move(sample));
  }
  std::ranges::sort(run.samples, {}, &RunSample::step);
}

void take_settings(RunRecord& run) {
  const fs::path file = RunFiles{run.directory}.config();
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return;
  try {
    run.settings =
        RunConfig::from_text(core::read_text_file(file), file.string()).resolved.values();
  } catch (const core::Error&) {
    // A run of another weft, or half a file: its measurements can be shown all the same.
  }
}

}  // namespace

const Curve* RunRecord::curve(const std::string& metric) const {
  const auto found = curves.find(metric);
  return found == curves.end() || found->second.values.empty() ? nullptr : &found->second;
}

double RunRecord::seconds_left() const {
  const Curve* const speed = curve("tokens_per_s");
  if (state != "running" || steps <= step || !speed || tokens_per_step <= 0) return -1;
  constexpr std::size_t newest = 20;
  const std::size_t n = speed->values.size(), from = n > newest ? n - newest : 0;
  double each = 0;
  for (std::size_t i = from; i < n; ++i) each += tokens_per_step / speed->values[i];
  return double(steps - step) * each / double(n - from);
}

RunRecord read_run(const fs::path& directory) {
  RunRecord run;
  run.directory = directory;
  const fs::path whole = fs::weakly_canonical(directory);
  run.name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  const RunFiles files{directory};
  run.status = read_status(files);
  run.state = state_now(files, run.status);
  if (run.state.empty()) run.state = "unknown";
  run.step = run.status.step;
  if (const auto starts = read_starts(files); !starts.empty()) run.start = starts.back();
  if (const auto steps = run.start.find("steps"); steps != run.start.end())
    if (const auto* count = std::get_if<std::int64_t>(&steps->second)) run.steps = Index(*count);
  take_settings(run);
  take_metrics(run);
  take_samples(run);
  return run;
}

std::vector<std::vector<std::string>> differing_settings(const std::vector<RunRecord>& runs) {
  std::set<std::string> keys;
  for (const RunRecord& run : runs)
    for (const auto& [key, value] : run.settings) keys.insert(key);
  std::vector<std::vector<std::string>> rows;
  for (const std::string& key : keys) {
    std::vector<std::string> row{key};
    for (const RunRecord& run : runs) {
      const auto found = run.settings.find(key);
      row.push_back(found == run.settings.end() ? "—" : found->second);
    }
    if (std::ranges::any_of(row.begin() + 1, row.end(),
                            [&](const std::string& value) { return value != row[1]; }))
      rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace weft::experiments
