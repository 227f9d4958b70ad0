#include "experiments/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/checkpoint/saved_image.h"
#include "experiments/checkpoint/text_form.h"
#include "experiments/train/kernels_used.h"
#include "experiments/train/run_model.h"

namespace weft::experiments {

using autograd::ParameterArena;
using core::Real;

Trainer::Trainer(const RunConfig& config) : Trainer(config, make_dataset(config)) {}

Trainer::Trainer(const RunConfig& config, std::unique_ptr<data::Dataset> dataset)
    : config_(config),
      dataset_(std::move(dataset)),
      model_(make_model(config, shape_of(config, *dataset_))) {
  model_->visit(inventory_);
  arena_ = std::make_unique<ParameterArena>(inventory_, ParameterArena::Use::training,
                                            config.train.precision);
  arena_->initialise(core::Rng(std::uint64_t(config.seed)).fold("parameters"));
  optimizer_ = config.optim.make_optimizer(*arena_);
  if (model_->recurrent()) memory_ = model_->memory(config.train.batch);
}

double Trainer::run_micro_batch(Index number, const data::Batch& batch, autograd::Journal& journal,
                                layers::StreamMemory& memory,
                                const autograd::TapeOptions& options) const {
  if (!batch.continues) memory.forget();
  autograd::Tape tape(options);
  const core::Rng stream =
      core::Rng(std::uint64_t(config_.seed)).fold("training").fold(std::uint64_t(number));
  const autograd::Pass pass(tape, stream, journal);
  const Real share = Real(1) / Real(config_.train.accumulate);
  const autograd::Var loss =
      model_->loss(pass, {batch, model_->recurrent() ? &memory : nullptr}, share);
  const double value = core::scalar(loss.value());
  if (std::isfinite(value)) tape.sweep(loss);
  journal.forget_decisions();
  return value;
}

Trainer::Step Trainer::step(autograd::Profile* profile, const std::function<void()>& poll) {
  const Index micro = config_.train.accumulate, first = step_ * micro;
  auto batches = std::move(prefetch_);  // it comes back when the step is made
  if (!batches) batches = std::make_unique<data::Prefetch>(*dataset_, first);
  arena_->zero_gradients();
  autograd::Journal journal;
  Step result;
  layers::StreamMemory memory = memory_;
  for (Index m = 0; m < micro; ++m) {
    if (m > 0 && poll) poll();
    const data::Batch batch = batches->next();
    if (profile) profile->restart();
    result.loss += run_micro_batch(first + m, batch, journal, memory, {.profile = profile});
    if (!std::isfinite(result.loss)) explain_divergence("loss");
  }
  result.report = optim::take_step(*optimizer_, *arena_, config_.optim, step_, total_steps());
  if (!result.report.applied) explain_divergence("gradient norm");
  journal.commit();
  inventory_.constrain();
  memory_ = std::move(memory);
  prefetch_ = std::move(batches);
  ++step_;
  return result;
}

void Trainer::explain_divergence(const char* what) const {
  const std::string where = core::message_of("step ", step_, ": the ", what, " is not finite; ");
  try {
    autograd::Journal journal;
    layers::StreamMemory memory = memory_;
    for (Index m = 0; m < config_.train.accumulate; ++m) {
      const Index number = step_ * config_.train.accumulate + m;
      run_micro_batch(number, dataset_->training(number), journal, memory, {.check_finite = true});
    }
  } catch (const core::Error& error) {
    throw core::Error(core::Fault::diverged, where + error.what(),
                      "Lower optim.lr, raise optim.warmup or lower optim.clip, and resume from the "
                      "last checkpoint");
  }
  throw core::Error(core::Fault::diverged,
                    where + "every op by itself is finite: sums of gradients overflowed");
}

Index Trainer::tokens_per_step() const {
  return config_.train.batch * config_.train.accumulate * config_.data.length;
}

Index Trainer::scored_pairs_per_step() const {
  return model_->attention_cost(config_.train.batch).scored_pairs * config_.train.accumulate;
}

double Trainer::useful_flops(Index scored_pairs) const {
  const Index head_width = config_.model.width / config_.model.heads;
  return 6.0 * double(model_->matrix_weights()) * model_->rows_per_token() *
             double(tokens_per_step()) +
         12.0 * double(head_width) * double(scored_pairs);
}

Index Trainer::total_steps() {
  if (total_steps_ > 0) return total_steps_;
  const TrainSettings& train = config_.train;
  const auto steps_for = [](double budget, double per_step) {
    return std::max<Index>(1, Index(std::ceil(budget / per_step)));
  };
  if (train.steps > 0) return total_steps_ = train.steps;
  if (train.tokens > 0)
    return total_steps_ = steps_for(double(train.tokens), double(tokens_per_step()));
  if (train.flops > 0) return total_steps_ = steps_for(train.flops, useful_flops_per_step());
  // Time: forward and backward of a few batches, the gradients thrown away.
  double best = 1e300;
  for (Index i = 0; i < 4; ++i) {
    autograd::Journal journal;
    const auto start = std::chrono::steady_clock::now();
    layers::StreamMemory memory = memory_;
    run_micro_batch(0, dataset_->training(0), journal, memory, {});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() * double(train.accumulate));
  }
  arena_->zero_gradients();
  return total_steps_ = steps_for(train.minutes * 60, best);
}

Index Trainer::fixed_bytes() const {
  return 2 * arena_->size() * Index(sizeof(Real)) + arena_->rounded_bytes() + optimizer_->bytes();
}

std::vector<ArrayTarget> Trainer::model_arrays() { return arrays_of(*arena_, inventory_); }

std::vector<ArrayTarget> Trainer::moment_arrays() {
  std::vector<ArrayTarget> arrays;
  for (const optim::Moment& moment : optimizer_->moments())
    arrays.push_back({"optim/" + moment.name, moment.shape, moment.values});
  return arrays;
}

std::vector<ArrayTarget> Trainer::memory_arrays() {
  std::vector<ArrayTarget> arrays;
  for (const layers::StreamMemory::Array& array : memory_.arrays())
    arrays.push_back({"memory/" + array.name, array.shape, array.values});
  return arrays;
}

Snapshot Trainer::snapshot() {
  Snapshot snapshot;
  snapshot.step = step_;
  snapshot.config_toml = config_.toml();
  for (const auto& arrays : {model_arrays(), moment_arrays(), memory_arrays()})
    for (const ArrayTarget& array : arrays)
      snapshot.arrays.push_back({array.name, array.shape, array.values});
  snapshot.facts["rng/seed"] = std::int64_t(config_.seed);
  snapshot.facts["data/position"] = std::int64_t(step_ * config_.train.accumulate);
  snapshot.facts["data/fingerprint"] = dataset_->fingerprint();
  snapshot.facts.merge(describe_form(TextForm::of(*dataset_)));
  for (const auto& [name, text] : describe_image(dataset_->image()))
    snapshot.facts["data/" + name] = text;
  snapshot.facts["meta/total_steps"] = std::int64_t(total_steps());
  for (const auto& [name, kernels] : kernels_used(config_))
    snapshot.facts["meta/" + name] = kernels;
  return snapshot;
}

void Trainer::restore_model(const Checkpoint& checkpoint) {
  restore_arrays(checkpoint, model_arrays());
}

void Trainer::restore(const Checkpoint& checkpoint) {
  if (checkpoint.text("data/fingerprint") != dataset_->fingerprint())
    throw core::Error(core::Fault::data,
                      "the data is not what this run began with (its fingerprint differs); bring "
                      "the file back, or start again with --fresh");
  restore_model(checkpoint);
  checkpoint.restore("optim", moment_arrays());
  checkpoint.restore("memory", memory_arrays());
  step_ = checkpoint.step;
  if (config_.train.minutes > 0) total_steps_ = Index(checkpoint.integer("meta/total_steps"));
  prefetch_.reset();
}

}  // namespace weft::experiments
