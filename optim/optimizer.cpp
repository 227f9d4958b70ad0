#include "optim/optimizer.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "optim/gradient_norm.h"

namespace weft::optim {

using autograd::ParameterArena;
using core::Index;

Optimizer::Optimizer(const ParameterArena& arena, const std::vector<std::string>& moments)
    : slots_(arena.slots()),
      size_(arena.size()),
      dense_size_(arena.dense_size()),
      owned_{{0, arena.dense_size()}} {
  for (const std::string& name : moments) arrays_.push_back({name, autograd::flat_array(size_)});
}

void Optimizer::share(const Sharing& sharing) {
  const core::Slices& slices = *sharing.slices;
  core::require(slices.size() == dense_size_ && slices.ranks() == sharing.ranks->count(),
                "optimizer: ", slices.size(), " numbers in slices for ", slices.ranks(),
                " ranks, but has ", dense_size_, " for ", sharing.ranks->count());
  sharing_ = sharing;
  owned_ = sharing.owned(dense_size_);
  for (FlatArray& array : arrays_)
    array.values = autograd::flat_array(dense_moments() + size_ - dense_size_);
}

Index Optimizer::dense_moments() const {
  Index sum = 0;
  for (const core::Stretch& range : owned_) sum += range.size();
  return sum;
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
  Index moments_before = 0;
  for (const core::Stretch& own : owned_) {
    const Index shift = moments_before - own.begin;
    core::parallel_for(own.size(), core::elementwise_grain, [&](Index first, Index last) {
      for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
        if (slot->sparse) continue;
        const Index from = std::max(own.begin + first, slot->offset);
        const Index to = std::min(own.begin + last, slot->offset + slot->size);
        if (from >= to) continue;
        move({gradients + from, values + from, from + shift, to - from, slot->decays,
              std::size_t(slot - slots_.begin())},
             update);
        moved += to - from;
      }
    });
    moments_before += own.size();
  }
  moved += move_rows(arena, update);
  if (sharing_.gather) sharing_.gather->begin({values, std::size_t(size_)});
  return moved;
}

Index Optimizer::move_rows(ParameterArena& arena, const Update& update) {
  std::atomic<Index> moved{0};
  const Index shift = dense_moments() - dense_size_;
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
        move({arena.row_gradient(slot, rows[std::size_t(r)]).data(), values + offset,
              offset + shift, n, false, i},
             own);
      }
      moved += (end - begin) * n;
    });
  }
  return moved;
}

std::vector<double> Optimizer::gradient_lengths(const ParameterArena& arena) const {
  std::vector<core::Stretch> pieces;
  std::vector<std::size_t> parameter;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].sparse) continue;
    const Index end = slots_[i].offset + slots_[i].size, grain = core::elementwise_grain;
    for (Index at = slots_[i].offset; at < end; at = pieces.back().end) {
      pieces.push_back({at, std::min(end, (at / grain + 1) * grain)});
      parameter.push_back(i);
    }
  }
  const std::vector<double> squares = sums_of_squares(arena.gradients(), pieces, sharing_);
  std::vector<double> lengths(slots_.size(), 0.0);
  for (std::size_t p = 0; p < pieces.size(); ++p) lengths[parameter[p]] += squares[p];
  for (double& length : lengths) length = std::sqrt(length);
  return lengths;
}

std::vector<Optimizer::FlatMoment> Optimizer::flat_moments() {
  const Index size = dense_moments() + size_ - dense_size_;
  std::vector<FlatMoment> views;
  for (const FlatArray& array : arrays_)
    views.push_back({array.name, {array.values.get(), std::size_t(size)}});
  return views;
}

std::vector<core::NamedArray> Optimizer::moments() {
  core::require(!sharing_.ranks, "optimizer: each rank has moments of its own slices only");
  std::vector<core::NamedArray> views;
  for (const FlatArray& array : arrays_)
    for (const auto& s : slots_)
      views.push_back({array.name + '/' + s.name,
                       s.shape,
                       {array.values.get() + s.offset, std::size_t(s.size)}});
  return views;
}

Index Optimizer::bytes() const {
  return Index(arrays_.size()) * (dense_moments() + size_ - dense_size_) *
         Index(sizeof(core::Real));
}

}  // namespace weft::optim
