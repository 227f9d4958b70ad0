#include "experiments/train/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/arrays/gemm.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "experiments/checkpoint/saved_spelling.h"
#include "experiments/evaluate/evaluation.h"

namespace weft::experiments {

using autograd::ParameterArena;
using core::Real;

namespace {

layers::ModelShape shape_of(const RunConfig& config, const data::Dataset& dataset) {
  return {.vocabulary = dataset.vocabulary(),
          .length = config.data.length,
          .classes = dataset.classes(),
          .source_length = dataset.source_length()};
}

std::unique_ptr<layers::Model> make_model(const RunConfig& config,
                                          const layers::ModelShape& shape) {
  return layers::make_model(config.model, config.attention, shape, config.train.recompute);
}

std::vector<ArrayTarget> arrays_of(ParameterArena& arena, const autograd::Inventory& inventory) {
  std::vector<ArrayTarget> arrays;
  for (const ParameterArena::Slot& s : arena.slots())
    arrays.push_back({"params/" + s.name, s.shape, arena.value(s)});
  for (const auto& [name, state] : inventory.states())
    arrays.push_back({"states/" + name, state->value().shape(), state->writable()});
  return arrays;
}

void restore_arrays(const Checkpoint& checkpoint, const std::vector<ArrayTarget>& arrays) {
  for (const std::string group : {"params", "states"}) {
    std::vector<ArrayTarget> own;
    for (const ArrayTarget& array : arrays)
      if (array.name.starts_with(group + "/")) own.push_back(array);
    checkpoint.restore(group, own);
  }
}

}  // namespace

Training::Training(const RunConfig& config)
    : config_(config),
      dataset_(data::make_dataset(config.data, config.train.batch, std::uint64_t(config.seed))),
      model_(make_model(config, shape_of(config, *dataset_))) {
  model_->visit(inventory_);
  arena_ = std::make_unique<ParameterArena>(inventory_, ParameterArena::Use::training);
  arena_->initialise(core::Rng(std::uint64_t(config.seed)).fold("parameters"));
  optimizer_ = optim::make_optimizer(config.optim, *arena_);
  if (model_->recurrent()) memory_ = model_->memory(config.train.batch);
}

double Training::run_micro_batch(Index number, const data::Batch& batch, autograd::Journal& journal,
                                 layers::StreamMemory& memory,
                                 const autograd::TapeOptions& options) const {
  if (!batch.continues) memory.forget();
  autograd::Tape tape(options);
  const core::Rng stream =
      core::Rng(std::uint64_t(config_.seed)).fold("training").fold(std::uint64_t(number));
  const autograd::Pass pass(tape, stream, journal);
  const Real share = Real(1) / Real(config_.train.accumulate);
  const autograd::Var loss =
      model_->loss(pass, reading_of(batch), share, model_->recurrent() ? &memory : nullptr);
  const double value = core::scalar(loss.value());
  if (std::isfinite(value)) tape.sweep(loss, core::Tensor(loss.shape(), 1));
  journal.forget_decisions();
  return value;
}

Training::Step Training::step(autograd::Profile* profile) {
  const Index micro = config_.train.accumulate, first = step_ * micro;
  if (!prefetch_) prefetch_ = std::make_unique<data::Prefetch>(*dataset_, first);
  arena_->zero_gradients();
  autograd::Journal journal;
  Step result;
  layers::StreamMemory memory = memory_;
  for (Index m = 0; m < micro; ++m) {
    const data::Batch batch = prefetch_->next();
    if (profile) profile->restart();
    result.loss += run_micro_batch(first + m, batch, journal, memory, {.profile = profile});
    if (!std::isfinite(result.loss)) explain_divergence("loss");
  }
  result.report = optim::take_step(*optimizer_, *arena_, config_.optim, step_, total_steps());
  if (!result.report.applied) explain_divergence("gradient norm");
  journal.commit();
  model_->constrain();
  memory_ = std::move(memory);
  ++step_;
  return result;
}

void Training::explain_divergence(const char* what) const {
  const std::string where = core::message_of("step ", step_, ": the ", what, " is not finite; ");
  try {
    autograd::Journal journal;
    layers::StreamMemory memory = memory_;
    for (Index m = 0; m < config_.train.accumulate; ++m) {
      const Index number = step_ * config_.train.accumulate + m;
      run_micro_batch(number, dataset_->training(number), journal, memory, {.check_finite = true});
    }
  } catch (const core::Error& error) {
    throw core::Error(core::Fault::diverged, where + error.what() +
                                                 ". Lower optim.lr, raise optim.warmup or lower "
                                                 "optim.clip, and resume from the last checkpoint");
  }
  throw core::Error(core::Fault::diverged,
                    where + "every op by itself is finite: sums of gradients overflowed");
}

Index Training::tokens_per_step() const {
  return config_.train.batch * config_.train.accumulate * config_.data.length;
}

Index Training::scored_pairs_per_step() const {
  return model_->attention_cost(config_.train.batch).scored_pairs * config_.train.accumulate;
}

double Training::useful_flops(Index scored_pairs) const {
  const Index head_width = config_.model.width / config_.model.heads;
  return 6.0 * double(model_->matrix_weights()) * model_->rows_per_token() *
             double(tokens_per_step()) +
         12.0 * double(head_width) * double(scored_pairs);
}

Index Training::total_steps() {
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

Index Training::fixed_bytes() const {
  return 2 * arena_->size() * Index(sizeof(Real)) + optimizer_->bytes();
}

std::vector<ArrayTarget> Training::model_arrays() { return arrays_of(*arena_, inventory_); }

std::vector<ArrayTarget> Training::moment_arrays() {
  std::vector<ArrayTarget> arrays;
  for (const optim::Moment& moment : optimizer_->moments())
    arrays.push_back({"optim/" + moment.name, moment.shape, moment.values});
  return arrays;
}

std::vector<ArrayTarget> Training::memory_arrays() {
  std::vector<ArrayTarget> arrays;
  for (const layers::StreamMemory::Array& array : memory_.arrays())
    arrays.push_back({"memory/" + array.name, array.shape, array.values});
  return arrays;
}

Snapshot Training::snapshot() {
  Snapshot snapshot;
  snapshot.step = step_;
  snapshot.config_toml = config_.toml();
  for (const auto& arrays : {model_arrays(), moment_arrays(), memory_arrays()})
    for (const ArrayTarget& array : arrays)
      snapshot.arrays.push_back({array.name, array.shape, array.values});
  snapshot.facts["rng/seed"] = std::int64_t(config_.seed);
  snapshot.facts["data/position"] = std::int64_t(step_ * config_.train.accumulate);
  snapshot.facts["data/fingerprint"] = dataset_->fingerprint();
  for (const auto& [name, text] : describe_spelling(dataset_->spelling()))
    snapshot.facts["data/" + name] = text;
  snapshot.facts["meta/total_steps"] = std::int64_t(total_steps());
  snapshot.facts["meta/isa"] = std::string(core::simd().isa);
  snapshot.facts["meta/blas"] = core::blas_core();
  return snapshot;
}

void Training::restore_model(const Checkpoint& checkpoint) {
  restore_arrays(checkpoint, model_arrays());
}

void Training::restore(const Checkpoint& checkpoint) {
  if (checkpoint.text("data/fingerprint") != dataset_->fingerprint())
    throw core::Error(core::Fault::data,
                      "the data is not what this run began with (its fingerprint differs); bring "
                      "the file back, or start anew with --fresh");
  restore_model(checkpoint);
  checkpoint.restore("optim", moment_arrays());
  checkpoint.restore("memory", memory_arrays());
  step_ = checkpoint.step;
  if (config_.train.minutes > 0) total_steps_ = Index(checkpoint.integer("meta/total_steps"));
  prefetch_.reset();
}

Inference::Inference(const RunConfig& run, const Checkpoint& checkpoint)
    : Inference(run, checkpoint,
                data::make_dataset(run.data, run.train.batch, std::uint64_t(run.seed))) {}

Inference::Inference(const RunConfig& run, const Checkpoint& checkpoint,
                     std::unique_ptr<data::Dataset> data)
    : Inference(run, checkpoint, shape_of(run, *data)) {
  dataset = std::move(data);
}

Inference::Inference(const RunConfig& run, const Checkpoint& checkpoint,
                     const layers::ModelShape& shape)
    : config(run), model(make_model(run, shape)) {
  autograd::Inventory inventory;
  model->visit(inventory);
  arena = std::make_unique<ParameterArena>(inventory, ParameterArena::Use::inference);
  restore_arrays(checkpoint, arrays_of(*arena, inventory));
}

}  // namespace weft::experiments
