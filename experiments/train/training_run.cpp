#include "experiments/train/training_run.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/baselines.h"
#include "experiments/evaluate/generation.h"
#include "experiments/evaluate/span_report.h"
#include "experiments/run/precision_text.h"
#include "experiments/run/resumed_config.h"
#include "experiments/train/validation.h"

namespace weft::experiments {
namespace {

Progress::Settings progress_settings(const TrainSettings& train) {
  return {.columns = terminal_columns(STDOUT_FILENO), .every_steps = train.eval_every};
}

bool uses_bf16(const Trainer& trainer) {
  return trainer.config().train.precision == core::Precision::bf16;
}

std::string attention_of(const layers::ModelSettings& model) {
  std::string names;
  for (const std::string& name : model.attention) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

TrainingRun::TrainingRun(const RunConfig& config, std::unique_ptr<data::Dataset> dataset,
                         const RunDirectory& directory, const RunOptions& options,
                         std::ostream& out)
    : trainer_(config, std::move(dataset)),
      files_(directory.files()),
      options_(options),
      store_(files_.checkpoints(), config.train.keep_last, config.train.keep_best),
      out_(out),
      progress_(out, progress_settings(config.train)) {}

int TrainingRun::run() {
  const StopSignal stop;
  if (options_.start == RunStart::resume && !store_.empty())
    resume();
  else
    begin();
  announce();
  metrics_.emplace(files_.metrics());
  if (trainer_.config().train.tensorboard)
    tensorboard_.emplace(files_.tensorboard(), trainer_.steps_done());
  saved_time_ = steady_seconds();
  try {
    train_until_done(stop);
  } catch (const core::Error& error) {
    write_status(files_, {"failed", trainer_.steps_done(), error.reason(), error.advice()});
    throw;
  }
  if (stop.requested()) {
    progress_.message(stop.name() + ": stopping after step " +
                      std::to_string(trainer_.steps_done()));
    save();
    write_status(files_, {"stopped", trainer_.steps_done(), stop.name()});
    return stop.exit_code();
  }
  finish();
  return 0;
}

void TrainingRun::begin() {
  // A run that was killed before its first checkpoint begins again: its measurements come again.
  cut_metrics_back(files_.metrics(), -1);
  core::write_durably(files_.config(), trainer_.config().toml(), core::Fault::checkpoint);
  if (!options_.init_from.empty()) {
    std::vector<std::string> warnings;
    CheckpointStore other(find_run(options_.init_from).checkpoints(), 1, 1);
    const Checkpoint start = other.load_last(warnings);
    trainer_.restore_model(start);
    for (const std::string& warning : warnings) progress_.message("warning: " + warning);
    progress_.message("starting from the model of " + start.path.string());
  }
}

void TrainingRun::resume() {
  std::vector<std::string> warnings;
  const Checkpoint checkpoint = store_.load_last(warnings);
  for (const std::string& warning : warnings) progress_.message("warning: " + warning);
  for (const std::string& change : check_resumed_config(checkpoint, trainer_.config()))
    progress_.message("changed since the checkpoint: " + change);
  trainer_.restore(checkpoint);
  if (checkpoint.has("train/best")) best_ = checkpoint.number("train/best");
  without_best_ = Index(checkpoint.integer("train/without_best"));
  if (checkpoint.text("meta/isa") != core::simd().isa ||
      checkpoint.text("meta/blas") != core::blas_core())
    progress_.message("warning: saved with " + checkpoint.text("meta/isa") + " and BLAS " +
                      checkpoint.text("meta/blas") + ", continued with " + core::simd().isa +
                      " and " + core::blas_core() + ": bits may differ");
  if (uses_bf16(trainer_) && checkpoint.has("meta/bf16") &&
      checkpoint.text("meta/bf16") != core::bf16_library())
    progress_.message("warning: saved with bf16 products by " + checkpoint.text("meta/bf16") +
                      ", continued by " + core::bf16_library() + ": bits may differ");
  saved_step_ = validated_step_ = checkpoint.step;
  core::write_durably(files_.config(), trainer_.config().toml(), core::Fault::checkpoint);
  const MetricsCut cut = cut_metrics_back(files_.metrics(), checkpoint.step);
  std::string line = "resumed step " + std::to_string(checkpoint.step) + " from " +
                     checkpoint.path.filename().string() + " (checksum ok)";
  if (cut.records > 0)
    line += "; metrics.jsonl cut back from step " + std::to_string(cut.newest_step);
  progress_.message(line);
}

void TrainingRun::announce() {
  const RunConfig& config = trainer_.config();
  Facts facts = describe_machine();
  facts["version"] = std::string(WEFT_VERSION);
  facts["command"] = options_.command;
  facts["isa"] = std::string(core::simd().isa);
  facts["blas"] = core::blas_core();
  if (uses_bf16(trainer_)) facts["bf16"] = core::bf16_library();
  facts["threads"] = std::int64_t(core::threads());
  record_start(files_, std::move(facts));
  write_status(files_, {"running", trainer_.steps_done()});
  progress_.message(core::message_of(
      "run ", files_.directory.string(), "  ", format_count(double(trainer_.arena().count())),
      " parameters  ", attention_of(config.model), " attention, ", config.model.layers, " layers  ",
      core::threads(), " threads, ", core::simd().isa, ", BLAS ", core::blas_core()));
  if (uses_bf16(trainer_)) progress_.message(describe_precision(config));
  if (config.model.has_batch_statistics())
    progress_.message(
        "warning: batch norm's statistics let training read the future (model.allow_leaky_norm); "
        "do not compare its results with causal ones");
  else if (config.leaks())
    progress_.message(core::message_of(
        "warning: ", config.model.experts_leak() ? "a full expert" : "this attention",
        " lets later tokens choose what earlier ones read; weft eval says "
        "what its score owes to that"));
  if (const auto floor = trainer_.dataset().floor_bits())
    progress_.message("the source leaves " + format_fixed(*floor, 4) + " bits per " +
                      trainer_.dataset().unit() + " open: no model can do better (loss " +
                      format_fixed(*floor * std::numbers::ln2, 4) + ")");
  if (const auto names = trainer_.dataset().class_names(); !names.empty())
    progress_.message(print_classes(names));
  baselines_ = all_baselines(trainer_.dataset(), data::Split::validation);
  if (!baselines_.empty())
    progress_.message("right without a model: " + print_baselines(baselines_));
}

void TrainingRun::train_until_done(const StopSignal& stop) {
  const TrainSettings& train = trainer_.config().train;
  const Index total = trainer_.total_steps();
  while (trainer_.steps_done() < total && !stop.requested()) {
    const double start = steady_seconds();
    const Trainer::Step step = trainer_.step();
    record_step(step, steady_seconds() - start);
    const Index done = trainer_.steps_done();
    if (done == total || (train.eval_every > 0 && done % train.eval_every == 0)) validate();
    if (checkpoint_is_due()) save();
    if (train.patience > 0 && without_best_ >= train.patience) {
      progress_.message("no better validation in " + std::to_string(without_best_) +
                        " attempts: stopping early");
      break;
    }
  }
}

void TrainingRun::log_metrics(const MetricRecord& record) {
  metrics_->append(record);
  if (tensorboard_) tensorboard_->append(record);
}

void TrainingRun::record_step(const Trainer::Step& step, double seconds) {
  const double speed = double(trainer_.tokens_per_step()) / seconds;
  tokens_per_s_ = tokens_per_s_ == 0 ? speed : 0.9 * tokens_per_s_ + 0.1 * speed;
  const Index done = trainer_.steps_done();
  MetricRecord record{
      done,
      {{"loss", step.loss},
       {"gradient_norm", step.report.gradient_norm},
       {"lr", step.report.rate},
       {"tokens", std::int64_t(done * trainer_.tokens_per_step())},
       {"tokens_per_s", speed},
       {"peak_bytes", std::int64_t(trainer_.fixed_bytes() + core::memory_use().peak)}}};
  for (const autograd::Metric& metric : trainer_.metrics())
    record.values.push_back({metric.name, metric.value});
  log_metrics(record);
  progress_.update({.step = done,
                    .steps = trainer_.total_steps(),
                    .done = double(done) / double(trainer_.total_steps()),
                    .loss = step.loss,
                    .validation = validation_,
                    .best = validation_ && best_ == validation_,
                    .lr = step.report.rate,
                    .tokens_per_s = tokens_per_s_});
}

void TrainingRun::validate() {
  const RunConfig& config = trainer_.config();
  const Validation found = experiments::validate(trainer_, baselines_);
  if (found.spans) progress_.message(found.spans->summary());
  log_metrics(found.record);
  last_evaluation_ = found.evaluation;
  validation_ = found.evaluation.nats;
  validated_step_ = trainer_.steps_done();
  const bool best = !best_ || *validation_ < *best_;
  without_best_ = best ? 0 : without_best_ + 1;
  if (best) best_ = validation_;
  progress_.message(found.line + (best ? ", best so far" : ""));
  if (config.sample.at_evaluations) show_sample();
  if (best && config.train.keep_best > 0) save();
}

void TrainingRun::show_sample() {
  const SampleSettings& sample = trainer_.config().sample;
  if (sample.tokens == 0) return;
  const data::Dataset& dataset = trainer_.dataset();
  std::vector<core::Token> prompt = dataset.encode(sample.prompt);
  if (prompt.empty()) {
    const Index length = trainer_.config().data.length;
    const data::Batch batch = dataset.evaluation(data::Split::validation, 0, length);
    const auto first = batch.source_lengths
                           ? batch.sources.read().first(std::size_t(batch.source_lengths->front()))
                           : batch.inputs.read().first(std::size_t(std::max<Index>(1, length / 2)));
    prompt.assign(first.begin(), first.end());
  }
  const Generation generated = answer(trainer_.model(), dataset.boundary(), prompt,
                                      {.tokens = sample.tokens,
                                       .temperature = sample.temperature,
                                       .top_k = sample.top_k,
                                       .seed = std::uint64_t(trainer_.config().seed)});
  const std::string shown = dataset.decode(prompt) + "|" + dataset.decode(generated.tokens);
  progress_.message("sample (the model goes on after |): " + shown);
  std::filesystem::create_directories(files_.samples());
  core::write_durably(files_.samples() / (std::to_string(trainer_.steps_done()) + ".txt"), shown,
                      core::Fault::checkpoint);
}

bool TrainingRun::checkpoint_is_due() const {
  const Period period = trainer_.config().train.checkpoint_period();
  if (saved_step_ == trainer_.steps_done()) return false;
  if (period.steps > 0) return trainer_.steps_done() % period.steps == 0;
  return period.minutes > 0 && steady_seconds() - saved_time_ >= 60 * period.minutes;
}

void TrainingRun::save() {
  const Index step = trainer_.steps_done();
  if (step == saved_step_ || step == 0) return;
  metrics_->sync();
  Snapshot snapshot = trainer_.snapshot();
  if (best_) snapshot.facts["train/best"] = *best_;
  snapshot.facts["train/without_best"] = std::int64_t(without_best_);
  const double start = steady_seconds();
  const CheckpointStore::Saved saved =
      store_.save(snapshot, validated_step_ == step ? validation_ : std::optional<double>());
  progress_.message("saved step " + std::to_string(step) + " (" + format_mib(double(saved.bytes)) +
                    " MiB, " + format_fixed(steady_seconds() - start, 2) + " s)" +
                    (saved.best ? ", new best" : ""));
  saved_step_ = step;
  saved_time_ = steady_seconds();
  write_status(files_, {"running", step});
}

void TrainingRun::finish() {
  const bool whole = trainer_.config().train.eval_batches == 0;
  if (!last_evaluation_ || validated_step_ != trainer_.steps_done() || !whole) {
    const Validation found = validate_finally(trainer_, baselines_);
    log_metrics(found.record);
    last_evaluation_ = found.evaluation;
  }
  save();
  progress_.finish();
  show_sample();
  out_ << print_evaluation(*last_evaluation_, trainer_.dataset(), data::Split::validation);
  if (const auto spans = span_report(trainer_.model(), trainer_.config())) out_ << spans->table();
  out_ << std::flush;
  write_status(files_, {"finished", trainer_.steps_done()});
}

}  // namespace weft::experiments
