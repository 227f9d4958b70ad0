#include "optim/optimizer.h"

#include <algorithm>

#include "core/error.h"
#include "core/parallel.h"

namespace weft::optim {

using autograd::ParameterArena;
using core::Index;

Optimizer::Optimizer(const ParameterArena& arena, const std::vector<std::string>& moments)
    : slots_(arena.slots()), size_(arena.size()) {
  for (const std::string& name : moments) arrays_.push_back({name, autograd::flat_array(size_)});
}

// The flat array is cut into pieces of equal length, and each piece again at the ends of
// parameters: many small parameters share a task, and a large one is split between several.
void Optimizer::step(ParameterArena& arena, const Update& update) {
  core::require(arena.size() == size_ && arena.slots().size() == slots_.size(),
                "optimizer: made for ", slots_.size(), " parameters (", size_,
                " elements), but given ", arena.slots().size(), " (", arena.size(),
                " elements); make one for each arena");
  core::require(Index(arena.gradients().size()) == size_,
                "optimizer: the arena has no gradients; make it with Use::training");
  core::require(update.step >= 0, "optimizer: steps are numbered from 0, got ", update.step);
  prepare(arena, update);
  core::Real* values = arena.values().data();
  const core::Real* gradients = arena.gradients().data();
  core::parallel_for(size_, core::elementwise_grain, [&](Index begin, Index end) {
    auto slot = std::ranges::partition_point(
        slots_, [&](const auto& s) { return s.offset + s.size <= begin; });
    for (; slot != slots_.end() && slot->offset < end; ++slot) {
      const Index from = std::max(begin, slot->offset);
      const Index to = std::min(end, slot->offset + slot->size);
      if (from < to)
        move({gradients + from, values + from, from, to - from, slot->decays,
              std::size_t(slot - slots_.begin())},
             update);
    }
  });
}

std::vector<Moment> Optimizer::moments() {
  std::vector<Moment> views;
  for (const FlatArray& array : arrays_)
    for (const auto& s : slots_)
      views.push_back({array.name + '/' + s.name,
                       s.shape,
                       {array.values.get() + s.offset, std::size_t(s.size)}});
  return views;
}

Index Optimizer::bytes() const { return Index(arrays_.size()) * size_ * Index(sizeof(core::Real)); }

}  // namespace weft::optim
