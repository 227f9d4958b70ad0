// What a checkpoint has of a trainer, gathered from all ranks and given back to them.

#include <algorithm>

#include "core/arrays/float_products.h"
#include "core/error.h"
#include "core/ranks/collectives.h"
#include "data/fingerprint.h"
#include "experiments/checkpoint/saved_image.h"
#include "experiments/checkpoint/text_form.h"
#include "experiments/train/kernels_used.h"
#include "experiments/train/moment_slices.h"
#include "experiments/train/run_model.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {
namespace {

/// Calls copy(of all streams, of some of them from `first` on) for each array of two memories.
template <class Copy>
void for_streams(layers::StreamMemory& all, layers::StreamMemory& some, Index first, Copy copy) {
  const auto whole = all.arrays(), part = some.arrays();
  for (std::size_t i = 0; i < part.size(); ++i) {
    // How many rows are in use is the same for all streams; all else is kept by stream.
    const bool shared = part[i].name == "held";
    const auto each = Index(part[i].values.size()) / some.batch();
    copy(whole[i].values.subspan(shared ? 0 : std::size_t(first * each), part[i].values.size()),
         part[i].values);
  }
}

}  // namespace

std::vector<NamedArray> Trainer::model_arrays() { return arrays_of(*arena_, inventory_); }

std::vector<NamedArray> Trainer::moment_arrays() {
  std::vector<NamedArray> arrays;
  if (ranks_.alone()) {
    for (const NamedArray& moment : optimizer_->moments())
      arrays.push_back({"optim/" + moment.name, moment.shape, moment.values});
    return arrays;
  }
  if (!ranks_.is_first()) return arrays;
  const auto flat = optimizer_->flat_moments();
  gathered_moments_.resize(flat.size());
  for (std::size_t i = 0; i < flat.size(); ++i) {
    gathered_moments_[i].resize(std::size_t(arena_->size()));
    for (const auto& slot : arena_->slots())
      arrays.push_back({"optim/" + flat[i].name + '/' + slot.name, slot.shape,
                        std::span(gathered_moments_[i])
                            .subspan(std::size_t(slot.offset), std::size_t(slot.size))});
  }
  return arrays;
}

std::vector<NamedArray> Trainer::memory_arrays() {
  std::vector<NamedArray> arrays;
  if (!model_->recurrent()) return arrays;
  if (joined_memory_.batch() == 0) joined_memory_ = model_->memory(config_.train.batch);
  for (const NamedArray& array : joined_memory_.arrays())
    arrays.push_back({"memory/" + array.name, array.shape, array.values});
  return arrays;
}

/// Every rank's streams come to all.
void Trainer::join_memory() {
  const Index each = config_.train.batch / shards();
  memory_arrays();
  for (Index r = 0; r < ranks_.count() && model_->recurrent(); ++r) {
    const core::Stretch theirs = core::shards_of(r, ranks_.count(), shards());
    layers::StreamMemory part = model_->memory(each);
    for (Index s = theirs.begin; s < theirs.end; ++s) {
      if (r == ranks_.rank()) part = memory_[std::size_t(s - own_.begin)];
      for (const NamedArray& array : part.arrays())
        core::broadcast_bytes(ranks_, std::as_writable_bytes(array.values), r);
      for_streams(joined_memory_, part, s * each,
                  [](auto whole, auto own) { std::ranges::copy(own, whole.begin()); });
    }
  }
}

/// A difference means that a machine computes wrongly: better no checkpoint than one of them.
void Trainer::require_equal_values() {
  if (ranks_.alone()) return;
  const auto bytes = std::as_bytes(std::span<const Real>(arena_->values()));
  const auto hashes = core::gather(
      ranks_, data::fingerprint_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  for (std::size_t r = 1; r < hashes.size(); ++r)
    core::require(hashes[r] == hashes[0], "rank ", r,
                  " has other parameters than rank 0 after step ", step_,
                  ": a machine computes or sends wrongly; nothing is saved");
}

Snapshot Trainer::snapshot() {
  require_equal_values();
  join_memory();
  Snapshot snapshot;
  snapshot.step = step_;
  snapshot.config_toml = config_.toml();
  gathered_moments_.clear();
  if (!ranks_.alone())
    for (const auto& flat : optimizer_->flat_moments())
      gathered_moments_.push_back(gather_moments(ranks_, slices_, arena_->size(), flat.values));
  for (const auto& arrays : {model_arrays(), moment_arrays(), memory_arrays()})
    for (const NamedArray& array : arrays)
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
  send_state();
}

void Trainer::restore(const Checkpoint& checkpoint) {
  if (checkpoint.text("data/fingerprint") != dataset_->fingerprint())
    throw core::Error(core::Fault::data,
                      "the data is not what this run began with (its fingerprint differs); bring "
                      "the file back, or start again with --fresh");
  restore_arrays(checkpoint, model_arrays());
  checkpoint.restore("optim", moment_arrays());
  checkpoint.restore("memory", memory_arrays());
  step_ = checkpoint.step;
  if (config_.train.minutes > 0) total_steps_ = Index(checkpoint.integer("meta/total_steps"));
  send_state();
}

/// What the first rank has comes to all.
void Trainer::send_state() {
  prefetch_.reset();
  // The first one may have chosen the kernels of a run that it continues.
  const std::string products = core::broadcast(ranks_, core::float_products());
  core::require(ranks_.alone() || core::use_float_products(products), "rank ", ranks_.rank(),
                " cannot multiply by ", products, " as the run was saved");
  std::vector<Index> counts{step_, total_steps_};
  core::broadcast<Index>(ranks_, counts);
  step_ = counts[0];
  total_steps_ = counts[1];
  core::broadcast<Real>(ranks_, arena_->values());
  for (const auto& [name, state] : inventory_.states())
    core::broadcast<Real>(ranks_, state->writable());
  for (const NamedArray& array : memory_arrays()) core::broadcast<Real>(ranks_, array.values);
  const Index each = config_.train.batch / shards();
  for (std::size_t s = 0; s < memory_.size(); ++s)
    for_streams(joined_memory_, memory_[s], (own_.begin + Index(s)) * each,
                [](auto whole, auto own) { std::ranges::copy(whole, own.begin()); });
  if (ranks_.alone()) return;
  moment_arrays();
  const auto flat = optimizer_->flat_moments();
  for (std::size_t i = 0; i < flat.size(); ++i) {
    std::span<Real> whole;
    if (ranks_.is_first()) whole = gathered_moments_[i];
    scatter_moments(ranks_, slices_, whole, flat[i].values);
  }
  gathered_moments_.clear();
}

}  // namespace weft::experiments
