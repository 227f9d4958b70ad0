#include "experiments/report/trial_record.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {
namespace {

using Json = nlohmann::json;

void read_score(const std::filesystem::path& path, TrialRecord& record) {
  const Json json = Json::parse(core::read_text_file(path), nullptr, false);
  try {
    for (const char* metric : {"bits", "loss", "perplexity", "accuracy"})
      record.scores[metric] = json.at(metric);
    if (json.contains("sequence_accuracy"))
      record.scores["sequence_accuracy"] = json["sequence_accuracy"];
    if (json.contains("f1")) record.scores["f1"] = json["f1"];
    record.floor_bits = json.value("floor_bits", not_measured);
    record.chance = json.value("chance", not_measured);
    if (json.contains("leak"))
      record.leak_bits = double(json["leak"].at("gap")) / std::numbers::ln2;
    record.classifies = json.contains("classes");
    record.baselines = json.value("baselines", std::map<std::string, double>());
    record.bits_baselines = json.value("bits_baselines", std::map<std::string, double>());
    double right = 0, all = 0;
    for (const Json& band : json.value("by_distance", Json::array())) {
      record.recall.push_back(
          {band.at("from"), band.at("to"), band.at("tokens"), band.at("accuracy")});
      right += record.recall.back().accuracy * double(record.recall.back().tokens);
      all += double(record.recall.back().tokens);
    }
    if (all > 0) record.scores["recall"] = right / all;
  } catch (const Json::exception&) {
    record.scores.clear();
    record.state = {TrialState::Phase::failed, record.state.step,
                    path.string() + " is damaged: delete it and run the sweep again"};
  }
}

void add(Curve& curve, Index step, double value) {
  curve.steps.push_back(step);
  curve.values.push_back(value);
}

/// 3 of "layers.3.spans".
std::optional<Index> layer_with_spans(const std::string& name) {
  Index layer = 0;
  const char* const begin = name.data() + std::string_view("layers.").size();
  const char* const end = name.data() + name.size();
  const auto [rest, fault] = std::from_chars(begin, end, layer);
  if (fault != std::errc() || std::string_view(rest, std::size_t(end - rest)) != ".spans")
    return {};
  return layer;
}

void read_run(const std::filesystem::path& run, TrialRecord& record) {
  std::vector<double> speeds;
  double seconds = 0, peak = 0, tokens_before = 0;
  for (const MetricRecord& metrics : read_metrics(RunFiles{run}.metrics())) {
    if (metrics.has("tokens_per_s")) {
      const double speed = metrics.number("tokens_per_s"), tokens = metrics.number("tokens");
      speeds.push_back(speed);
      seconds += (tokens - tokens_before) / speed;
      tokens_before = tokens;
      peak = std::max(peak, metrics.number("peak_bytes"));
    }
    if (metrics.has("validation_loss"))
      add(record.validation, metrics.step, metrics.number("validation_loss"));
    for (const auto& [name, value] : metrics.values) {
      if (!name.starts_with("layers.")) continue;
      if (const auto* list = std::get_if<std::vector<double>>(&value)) {
        if (const auto layer = layer_with_spans(name)) record.spans[*layer] = *list;
      } else {
        add(record.figures[name], metrics.step, metrics.number(name));
      }
    }
  }
  if (!record.validation.values.empty())
    record.best_validation = *std::ranges::min_element(record.validation.values);
  if (speeds.empty()) return;
  const auto middle = speeds.begin() + std::ptrdiff_t(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  record.tokens_per_s = *middle;
  record.train_seconds = seconds;
  record.peak_bytes = peak;
}

/// The PNG of the latest step among the samples of a run.
std::string newest_picture(const std::filesystem::path& samples) {
  Index newest = -1;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(samples, fault)) {
    Index step = 0;
    const std::string name = entry.path().stem().string();
    const auto [rest, unread] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (entry.path().extension() == ".png" && unread == std::errc())
      newest = std::max(newest, step);
  }
  if (newest < 0) return "";
  return core::read_text_file(samples / (std::to_string(newest) + ".png"));
}

std::string text_of(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return "?";
  return std::visit([](const auto& value) { return core::message_of(value); }, found->second);
}

void note_machine(const std::filesystem::path& run, std::vector<std::string>& machines) {
  for (const Facts& start : read_starts({run})) {
    const std::string text = text_of(start, "cpu") + ", " + text_of(start, "threads") +
                             " threads a trial, " + text_of(start, "isa") + ", BLAS " +
                             text_of(start, "blas") + ", weft " + text_of(start, "version");
    if (std::ranges::find(machines, text) == machines.end()) machines.push_back(text);
  }
}

}  // namespace

bool lower_is_better(const std::string& metric) {
  return metric == "bits" || metric == "loss" || metric == "perplexity";
}

SweepRecord read_sweep(const std::filesystem::path& directory) {
  const SweepFiles files{directory};
  SweepRecord sweep{read_plan(files), {}, {}};
  for (const PlannedTrial& planned : sweep.plan.trials) {
    TrialRecord record;
    record.plan = planned;
    record.state = state_of(files, planned.id);
    if (record.done()) read_score(files.score(planned.id), record);
    read_run(files.run(planned.id), record);
    record.sample = newest_picture(RunFiles{files.run(planned.id)}.samples());
    note_machine(files.run(planned.id), sweep.machines);
    sweep.trials.push_back(std::move(record));
  }
  return sweep;
}

}  // namespace weft::experiments
