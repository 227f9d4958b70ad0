#pragma once

#include <cstring>
#include <set>

#include "autograd/parameter_arena.h"
#include "autograd/pass_watch.h"
#include "autograd/shard.h"
#include "experiments/train/run_model.h"

namespace weft::experiments {

/// Keeps a copy of each gradient as it is when the sweep is said to have completed it.
class CompletedGradients final : public autograd::PassWatch {
 public:
  explicit CompletedGradients(autograd::ParameterArena& arena)
      : arena_(arena), first_read_(arena.slots().size(), -1), copies_(arena.slots().size()) {}

  void before_read(core::Index parameter) override {
    core::Index& first = first_read_[std::size_t(parameter)];
    if (first < 0) first = place();
  }
  void before_values() override {}
  void swept(core::Index place) override {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      if (first_read_[i] < place || !copies_[i].empty()) continue;
      const auto now = gradient(i);
      copies_[i].assign(now.begin(), now.end());
      moments_.insert(place);
    }
  }

  /// The parameters whose gradients changed after that.
  std::vector<std::string> changed_later() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < copies_.size(); ++i)
      if (!copies_[i].empty() && std::memcmp(copies_[i].data(), gradient(i).data(),
                                             copies_[i].size() * sizeof(core::Real)) != 0)
        names.push_back(arena_.slots()[i].name);
    return names;
  }
  /// At how many moments of the sweep some were completed.
  std::size_t moments() const { return moments_.size(); }

 private:
  std::span<const core::Real> gradient(std::size_t i) const {
    const auto& slot = arena_.slots()[i];
    return arena_.gradients().subspan(std::size_t(slot.offset), std::size_t(slot.size));
  }

  autograd::ParameterArena& arena_;
  std::vector<core::Index> first_read_;
  std::vector<std::vector<core::Real>> copies_;
  std::set<core::Index> moments_;
};

/// Sweeps one micro-batch of a run.
struct FollowedSweep {
  std::vector<std::string> changed_later;
  std::size_t moments = 0;
};
inline FollowedSweep follow_sweep(const RunConfig& config) {
  const auto dataset = make_dataset(config);
  const auto model = make_model(config, shape_of(config, *dataset));
  autograd::Inventory inventory;
  model->visit(inventory);
  autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training,
                                 config.train.precision);
  arena.initialise(core::Rng(7));
  CompletedGradients watch(arena);
  arena.set_watch(inventory, watch);
  autograd::Journal journal;
  autograd::Tape tape({.watch = &watch});
  const autograd::Pass pass(tape, core::Rng(8), journal);
  autograd::set_shard(journal, 0);
  layers::StreamMemory memory;
  if (model->recurrent()) memory = model->memory(config.train.batch);
  tape.sweep(model->loss(
      pass, {dataset->training(0), model->recurrent() ? &memory : nullptr, std::nullopt, 1}, 1));
  return {watch.changed_later(), watch.moments()};
}

}  // namespace weft::experiments
