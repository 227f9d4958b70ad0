#include "experiments/train/training_run.h"

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "core/error.h"
#include "core/files/durable_file.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "experiments/checkpoint/slimming.h"
#include "experiments/console/number_text.h"
#include "experiments/evaluate/baselines.h"
#include "experiments/evaluate/span_report.h"
#include "experiments/run/precision_text.h"
#include "experiments/run/resumed_config.h"
#include "experiments/train/kernels_used.h"
#include "experiments/train/samples.h"
#include "experiments/train/validation.h"

namespace weft::experiments {
namespace {

Progress::Settings progress_settings(const TrainSettings& train, std::ostream& log) {
  return {.columns = [] { return terminal_columns(STDOUT_FILENO); },
          .log = &log,
          .every_steps = train.eval_every};
}

/// "dense attention, 2 layers"
std::string trunk_of(const layers::ModelSettings& model) {
  if (model.is_star()) return core::message_of("star, ", model.layers, " cycles");
  std::string names;
  for (const std::string& name : model.attention) names += (names.empty() ? "" : ", ") + name;
  const std::string layers = core::message_of(names, " attention, ", model.layers, " layers");
  return model.universal.chosen() ? core::message_of(layers, " x ", model.universal.steps, " steps")
                                  : layers;
}

}  // namespace

TrainingRun::TrainingRun(std::unique_ptr<Trainer> trainer, const RunDirectory& directory,
                         const RunOptions& options, std::ostream& out)
    : owned_trainer_(std::move(trainer)),
      trainer_(*owned_trainer_),
      directory_(directory),
      files_(directory.files()),
      options_(options),
      store_(files_.checkpoints(), trainer_.config().train.keep_last,
             trainer_.config().train.keep_best, [this] { directory_.require_held(); }),
      out_(out),
      agreement_(trainer_.ranks()),
      log_(files_.log(), std::ios::app),
      progress_(out, progress_settings(trainer_.config().train, log_)) {
  log_ << utc_now() << "  " << options_.command << std::endl;
}

int TrainingRun::run() {
  // What keeps a run from being continued does not change what is known of it.
  const bool resumes = options_.start == RunStart::resume, begins = !resumes || store_.empty();
  if (!begins) resume();
  if (begins && resumes) refuse_to_begin_again();
  try {
    if (begins) begin();
    agreement_.begin(Duty::count_steps);
    trainer_.total_steps();
    announce();
    train_until_done();
    finish();
    agreement_.begin(Duty::end);
    return 0;
  } catch (const Interrupted&) {
    const std::string signal = StopSignal::name_of(agreement_.signal());
    progress_.message(signal + ": stopping after step " + std::to_string(trainer_.steps_done()));
    save();
    set_status("stopped", signal);
    agreement_.begin(Duty::end, agreement_.exit_code());
    return agreement_.exit_code();
  } catch (const core::Error& error) {
    log_ << "error: " << error.what() << std::endl;
    set_failed(error.fault() == core::Fault::diverged ? "diverged" : "failed", error.reason(),
               error.advice());
    throw;
  } catch (const std::exception& error) {
    log_ << "error: " << error.what() << std::endl;
    set_failed("failed", error.what());
    throw;
  }
}

/// A run that has saved checkpoints does not begin again because they cannot be found.
void TrainingRun::refuse_to_begin_again() const {
  const RunStatus status = read_status(files_);
  if (status.saved <= 0) return;
  throw core::Error(
      core::Fault::checkpoint,
      core::message_of("the run in ", files_.directory.string(), " has saved step ", status.saved,
                       ", but there is no checkpoint in ", files_.checkpoints().string()),
      "Bring the checkpoints back (is a disk not mounted?); --fresh would delete the run and start "
      "over");
}

void TrainingRun::begin() {
  // A run that was killed before its first checkpoint begins again: its measurements come again.
  cut_metrics_back(files_.metrics(), -1);
  core::write_durably(files_.config(), trainer_.config().toml(), core::Fault::checkpoint);
  if (!options_.init_from.empty())
    progress_.message("starting from the model of " + options_.init_from);
}

void TrainingRun::resume() {
  std::vector<std::string> warnings;
  const Checkpoint checkpoint = store_.load_last(warnings);
  for (const std::string& warning : warnings) progress_.message("warning: " + warning);
  if (checkpoint.has(weights_only_fact))
    throw core::Error(
        core::Fault::checkpoint,
        files_.directory.string() +
            " keeps only its weights (weft runs slim), which cannot be resumed",
        "Start a new run from them: add --run DIR --init-from " + files_.directory.string());
  for (const std::string& change : check_resumed_config(checkpoint, trainer_.config()))
    progress_.message("changed since the checkpoint: " + change);
  agreement_.begin(Duty::restore);
  trainer_.restore(checkpoint);
  if (checkpoint.has("train/best")) best_ = checkpoint.number("train/best");
  without_best_ = Index(checkpoint.integer("train/without_best"));
  for (const std::string& warning : follow_kernels(checkpoint, trainer_.config()))
    progress_.message(warning);
  saved_step_ = checkpoint.step;
  if (warnings.empty()) store_.complete_save();
  core::write_durably(files_.config(), trainer_.config().toml(), core::Fault::checkpoint);
  // What a run that has ended measured last stays as it is, with its time.
  const bool ended = trainer_.steps_done() >= trainer_.total_steps() || patience_has_ended();
  const MetricsCut cut =
      cut_metrics_back(files_.metrics(), checkpoint.step, ended ? "" : final_loss_name);
  for (const MetricRecord& record : read_metrics(files_.metrics())) {
    if (record.step != checkpoint.step) continue;
    if (record.has("validation_loss")) validated_step_ = checkpoint.step;
    if (record.has(final_loss_name)) is_measured_finally_ = true;
  }
  std::string line = "resumed step " + std::to_string(checkpoint.step) + " from " +
                     checkpoint.path.filename().string() + " (checksum ok)";
  if (cut.newest_step > checkpoint.step)
    line += "; metrics.jsonl cut back from step " + std::to_string(cut.newest_step);
  progress_.message(line);
}

void TrainingRun::set_status(const std::string& state, const std::string& reason,
                             const std::string& advice) {
  directory_.require_held();
  write_status(files_, {.state = state,
                        .step = trainer_.steps_done(),
                        .reason = reason,
                        .advice = advice,
                        .saved = saved_step_,
                        .init_from = saved_step_ < 0 ? options_.init_from : ""});
}

void TrainingRun::set_failed(const std::string& state, const std::string& reason,
                             const std::string& advice) noexcept {
  try {
    set_status(state, reason, advice);
  } catch (const std::exception&) {
    // The failure itself is reported by what is thrown on; the disk may be what failed.
  }
}

void TrainingRun::announce() {
  const RunConfig& config = trainer_.config();
  Facts facts = describe_machine();
  facts["steps"] = std::int64_t(trainer_.total_steps());
  facts["parameters"] = std::int64_t(trainer_.arena().count());
  facts["command"] = options_.command;
  facts.merge(kernels_used(config));
  facts["threads"] = std::int64_t(core::threads());
  const Index ranks = trainer_.ranks().count();
  if (ranks > 1) facts["ranks"] = std::int64_t(ranks);
  record_start(files_, std::move(facts));
  set_status("running");
  progress_.message(core::message_of(
      "run ", files_.directory.string(), "  ", format_count(double(trainer_.arena().count())),
      " parameters  ", trunk_of(config.model), "  ",
      ranks > 1 ? format_number_of(double(ranks), "rank") + " of " : "",
      format_number_of(double(core::threads()), "thread"), ", ", describe_kernels()));
  if (const std::string text = describe_precision(config); !text.empty()) progress_.message(text);
  if (config.model.has_batch_statistics())
    progress_.message(
        "warning: batch norm's statistics let training read the future (model.allow_leaky_norm); "
        "do not compare its results with causal ones");
  else if (config.leaks())
    progress_.message(core::message_of(
        "warning: ", config.model.experts_leak() ? "a full expert" : "this attention",
        " lets later tokens choose what earlier ones read; weft eval says "
        "what its score owes to that"));
  for (const std::string& remark : trainer_.dataset().remarks()) progress_.message(remark);
  if (const auto floor = trainer_.dataset().floor_bits())
    progress_.message("the source leaves " + format_fixed(*floor, 4) + " bits per " +
                      trainer_.dataset().unit() + " open: no model can do better (loss " +
                      format_fixed(*floor * std::numbers::ln2, 4) + ")");
  if (const auto names = trainer_.dataset().class_names(); !names.empty())
    progress_.message(print_classes(names));
  baselines_ = {all_baselines(trainer_.dataset(), data::Split::validation),
                trainer_.dataset().bits_baselines(data::Split::validation)};
  if (!baselines_.accuracy.empty())
    progress_.message("right without a model: " + print_baselines(baselines_.accuracy));
  if (!baselines_.bits.empty())
    progress_.message("bits per " + trainer_.dataset().unit() +
                      " by tables of counts: " + print_baselines(baselines_.bits));
}

void TrainingRun::train_until_done() {
  metrics_.emplace(files_.metrics());
  if (trainer_.config().train.tensorboard)
    tensorboard_.emplace(files_.tensorboard(), trainer_.steps_done());
  saved_time_ = steady_seconds();
  if (!options_.init_from.empty() && saved_step_ < 0) save();
  std::function<void()> poll;  // several ranks end a step that they have begun
  if (trainer_.ranks().alone()) poll = [this] { agreement_.throw_if_requested(); };
  while (true) {
    agreement_.throw_if_requested();
    if (validation_is_due()) validate();
    if (checkpoint_is_due()) save();
    if (trainer_.steps_done() >= trainer_.total_steps() || patience_has_ended()) return;
    agreement_.begin(Duty::step);
    const double start = steady_seconds();
    const Trainer::Step step = trainer_.step(nullptr, poll);
    record_step(step, steady_seconds() - start);
  }
}

bool TrainingRun::validation_is_due() {
  const Index done = trainer_.steps_done(), every = trainer_.config().train.eval_every;
  if (done == 0 || validated_step_ == done) return false;
  return done == trainer_.total_steps() || (every > 0 && done % every == 0);
}

bool TrainingRun::patience_has_ended() const {
  const Index patience = trainer_.config().train.patience;
  return patience > 0 && without_best_ >= patience;
}

void TrainingRun::log_metrics(const MetricRecord& record) {
  MetricRecord timed = record;
  timed.values.push_back({"time", seconds_since_1970()});
  metrics_->append(timed);
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

template <class Measure>
Validation TrainingRun::measure(const Measure& validate, Index batches) {
  agreement_.begin(Duty::evaluate, batches);
  return validate(trainer_, baselines_, [this] { agreement_.poll(); });
}

void TrainingRun::validate() {
  const RunConfig& config = trainer_.config();
  const Validation found = measure(experiments::validate, config.train.eval_batches);
  saved_too_early_ = saved_step_ == trainer_.steps_done();
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
  const std::string line = write_sample(trainer_, files_);
  if (!line.empty()) progress_.message(line);
}

bool TrainingRun::checkpoint_is_due() const {
  const Period period = trainer_.config().train.checkpoint_period();
  if (saved_step_ == trainer_.steps_done()) return saved_too_early_;
  if (period.steps > 0) return trainer_.steps_done() % period.steps == 0;
  return period.minutes > 0 && steady_seconds() - saved_time_ >= 60 * period.minutes;
}

void TrainingRun::save() {
  const Index step = trainer_.steps_done();
  if (step == saved_step_ && !saved_too_early_) return;
  if (step == 0 && options_.init_from.empty()) return;
  metrics_->sync();
  agreement_.begin(Duty::save);
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
  saved_too_early_ = false;
  saved_time_ = steady_seconds();
  set_status("running");
}

void TrainingRun::finish() {
  if (trainer_.steps_done() < trainer_.total_steps())
    progress_.message("no better validation in " + std::to_string(without_best_) +
                      " attempts: stopping early");
  // The last validation is the final one where it read the whole split.
  const bool whole = trainer_.config().train.eval_batches == 0 || options_.is_smoke_test;
  const bool measured = whole && validated_step_ == trainer_.steps_done();
  if (!last_evaluation_ || !measured) {
    const Validation found = measure(validate_finally, 0);
    if (!measured && !is_measured_finally_) log_metrics(found.record);
    last_evaluation_ = found.evaluation;
  }
  save();
  progress_.finish();
  show_sample();
  print(print_evaluation(*last_evaluation_, trainer_.dataset(), data::Split::validation));
  if (const auto spans = span_report(trainer_.model(), trainer_.config())) print(spans->table());
  set_status("finished");
}

void TrainingRun::print(const std::string& text) {
  out_ << text << std::flush;
  log_ << text << std::flush;
}

}  // namespace weft::experiments
