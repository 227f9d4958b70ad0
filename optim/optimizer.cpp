#include "optim/optimizer.h"

#include <algorithm>
#include <atomic>

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
Index Optimizer::step(ParameterArena& arena, const Update& update) {
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
  std::atomic<Index> moved{0};
  core::parallel_for(arena.dense_size(), core::elementwise_grain, [&](Index begin, Index end) {
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
      if (slot->sparse) continue;
      const Index from = std::max(begin, slot->offset);
      const Index to = std::min(end, slot->offset + slot->size);
      if (from >= to) continue;
      move({gradients + from, values + from, from, to - from, slot->decays,
            std::size_t(slot - slots_.begin())},
           update);
      moved += to - from;
    }
  });
  return moved + move_rows(arena, update);
}

Index Optimizer::move_rows(ParameterArena& arena, const Update& update) {
  std::atomic<Index> moved{0};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& slot = slots_[i];
    if (!slot.sparse) continue;
    Update own = update;
    own.rate = slot.sparse->rate;
    const std::vector<Index>& rows = *arena.slots()[i].touched;
    core::Real* values = arena.values().data();
    const Index n = slot.shape.back();
    core::parallel_for(Index(rows.size()), core::rows_per_piece(n), [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        const Index offset = slot.offset + rows[std::size_t(r)] * n;
        move({arena.row_gradient(slot, rows[std::size_t(r)]).data(), values + offset, offset, n,
              false, i},
             own);
      }
      moved += (end - begin) * n;
    });
  }
  return moved;
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
