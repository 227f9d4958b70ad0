#include "experiments/report/trial_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "experiments/evaluate/span_report.h"
#include "experiments/run/metrics_log.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {
namespace {

void take_score(const Score& score, TrialRecord& record) {
  record.scores = score.values;
  record.floor_bits = score.floor_bits.value_or(not_measured);
  record.chance = score.chance.value_or(not_measured);
  if (score.leak_nats) record.leak_bits = *score.leak_nats / std::numbers::ln2;
  record.classifies = score.classifies;
  record.baselines = score.baselines;
  record.bits_baselines = score.bits_baselines;
  record.recall = score.recall;
  record.hardness = score.hardness;
  record.steps = score.steps;
}

void read_run(const std::filesystem::path& run, TrialRecord& record) {
  std::vector<double> speeds;
  double seconds = 0, peak = 0, tokens_before = 0;
  for (const MetricRecord& metrics : read_metrics(RunFiles{run}.metrics())) {
    const double speed = metrics.number("tokens_per_s"), tokens = metrics.number("tokens");
    if (std::isfinite(speed) && std::isfinite(tokens)) {
      speeds.push_back(speed);
      seconds += (tokens - tokens_before) / speed;
      tokens_before = tokens;
      peak = std::max(peak, metrics.number("peak_bytes"));
    }
    if (metrics.step == 1 && metrics.has("gradient_norm")) {
      record.first_loss = metrics.number("loss");
      record.first_gradient = metrics.number("gradient_norm");
    }
    if (metrics.has("validation_loss"))
      record.validation.add(metrics.step, metrics.number("validation_loss"));
    if (metrics.has("validation_bits"))
      record.validation_bits.add(metrics.step, metrics.number("validation_bits"));
    for (const auto& [name, value] : metrics.values) {
      if (!name.starts_with("layers.")) continue;
      if (const auto* list = std::get_if<std::vector<double>>(&value)) {
        if (const auto layer = layer_with_spans(name)) record.spans[*layer] = *list;
      } else {
        record.figures[name].add(metrics.step, metrics.number(name));
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
  std::error_code fault, unknown;
  for (const auto& entry : std::filesystem::directory_iterator(samples, fault)) {
    Index step = 0;
    const std::string name = entry.path().stem().string();
    std::from_chars(name.data(), name.data() + name.size(), step);
    const bool numbered = entry.path().filename() == std::to_string(step) + ".png";
    if (numbered && entry.is_regular_file(unknown)) newest = std::max(newest, step);
  }
  if (newest < 0) return "";
  return core::read_text_file(samples / (std::to_string(newest) + ".png"));
}

std::string text_of(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return "?";
  return std::visit([](const auto& value) { return core::message_of(value); }, found->second);
}

void add_once(const std::string& text, std::vector<std::string>& texts) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

void note_machine(const std::filesystem::path& run, SweepRecord& sweep) {
  for (const Facts& start : read_starts({run})) {
    const std::string program =
        "weft " + text_of(start, "version") + ", commit " + text_of(start, "commit");
    add_once(program, sweep.programs);
    const std::string text = text_of(start, "cpu") + ", " + text_of(start, "threads") +
                             (text_of(start, "threads") == "1" ? " thread" : " threads") +
                             " a trial, " + text_of(start, "isa") + ", BLAS " +
                             text_of(start, "blas") + ", " + program;
    add_once(text, sweep.machines);
  }
}

/// By arm, the first candidate whose seeds may still get their turn.
std::map<Index, Index> first_candidates(const SweepPlan& plan, const std::vector<Turn>& turns) {
  std::map<Index, Index> first;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const TuneStage& stage = plan.trials[i].stage;
    if (turns[i] != Turn::later || stage.is_rung()) continue;
    const auto [known, is_new] = first.emplace(stage.arm, stage.candidate);
    known->second = std::min(known->second, stage.candidate);
  }
  return first;
}

/// What halving dropped is not shown. While an arm tunes, the seeds of its first candidate that is
/// left stand for those that it will train.
bool is_shown(const PlannedTrial& planned, Turn turn, const std::map<Index, Index>& first) {
  if (turn == Turn::never) return false;
  if (turn != Turn::later) return true;
  return !planned.stage.is_rung() && planned.stage.candidate == first.at(planned.stage.arm);
}

}  // namespace

bool lower_is_better(const std::string& metric) {
  return metric == "bits" || metric == "loss" || metric == "perplexity" || metric == "steps";
}

SweepRecord read_sweep(const std::filesystem::path& directory) {
  const SweepFiles files{directory};
  SweepRecord sweep{.plan = read_plan(files), .trials = {}, .machines = {}};
  const std::vector<Turn> turns = turns_of(files, sweep.plan);
  const std::map<Index, Index> first = first_candidates(sweep.plan, turns);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const PlannedTrial& planned = sweep.plan.trials[i];
    if (!is_shown(planned, turns[i], first)) continue;
    TrialRecord record;
    record.plan = planned;
    record.config = files.config(planned.id);
    record.turn = turns[i];
    record.state = state_of(files, planned);
    if (record.done() && !planned.stage.is_rung())
      if (const auto score = read_score(files.score(planned.id))) take_score(*score, record);
    read_run(files.run(planned.id), record);
    record.last_validation = outcome_of(files, planned).loss;
    record.sample = newest_picture(RunFiles{files.run(planned.id)}.samples());
    note_machine(files.run(planned.id), sweep);
    (planned.stage.is_rung() ? sweep.rungs : sweep.trials).push_back(std::move(record));
  }
  return sweep;
}

}  // namespace weft::experiments
