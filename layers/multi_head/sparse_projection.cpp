#include "layers/multi_head/sparse_projection.h"

#include <algorithm>
#include <cmath>

#include "core/arrays/gemm.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::layers {
namespace {

/// The outputs of the multiplicative layer for the last tokens, oldest first.
struct LastTokens final : CopiedState<LastTokens> {
  LastTokens(Index most_, Index width_) : most(most_), width(width_) {}
  Index bytes() const override { return Index(rows.capacity() * sizeof(Real)); }

  void append(const Tensor& row) {
    if (Index(rows.size()) == most * width) rows.erase(rows.begin(), rows.begin() + width);
    rows.insert(rows.end(), row.read().begin(), row.read().end());
  }
  /// The row of each tap, null where the sequence had not begun.
  std::vector<const Real*> taps() const {
    std::vector<const Real*> found(std::size_t(most), nullptr);
    const Index kept = Index(rows.size()) / width;
    for (Index i = 0; i < kept; ++i) found[std::size_t(most - kept + i)] = rows.data() + i * width;
    return found;
  }

  Index most, width;
  std::vector<Real> rows;
};

}  // namespace

SparseProjection::SparseProjection(const std::vector<Projection>& projections, Index width,
                                   Index modules, Index columns, Index taps)
    : modules_(modules),
      channels_(columns / modules),
      taps_(taps),
      mix_(width, modules, columns / modules) {
  for (const Projection& projection : projections) {
    const Index spread = projection.name == "v" ? 1 : 3, M = channels_;
    const double fan = double(2 * taps * spread * M);
    convolutions_.push_back({std::string(projection.name),
                             {{taps, spread, M, M}, Init::uniform(std::sqrt(6.0 / fan))},
                             {{M}, Init::zeros()}});
  }
}

autograd::ModulePlane SparseProjection::plane(const Convolution& convolution) const {
  return {1, modules_, channels_, taps_, convolution.weight.shape()[1]};
}

std::vector<HeadBlock> SparseProjection::forward(const Pass& pass, const Var& x,
                                                 Index length) const {
  const Var mixed = mix_.forward(pass, x);
  std::vector<HeadBlock> blocks;
  for (const Convolution& own : convolutions_)
    blocks.push_back({autograd::module_convolution(mixed, own.weight, &own.bias, length), 0});
  return blocks;
}

std::vector<HeadBlock> SparseProjection::behind_past(const Pass&, const Tensor&,
                                                     const std::vector<HeadBlock>&, Index) const {
  throw core::Error(
      "sparse projections do not carry a past: set projection = \"dense\" or model.segment_memory "
      "= "
      "false");
}

std::unique_ptr<DecodeState> SparseProjection::begin() const {
  return std::make_unique<LastTokens>(taps_, modules_ * channels_);
}

Tensor SparseProjection::step(const StepRows& rows, const Tensor& x) const {
  const Index columns = Index(convolutions_.size()) * modules_ * channels_;
  return stacked_rows(x.shape()[0], columns,
                      [&](Index r) { return step_row(*rows[std::size_t(r)].state, x.rows(r, 1)); });
}

Tensor SparseProjection::step_row(DecodeState& state, const Tensor& x) const {
  const Index M = channels_, columns = modules_ * M, count = Index(convolutions_.size());
  auto& last = static_cast<LastTokens&>(state);
  Tensor mixed({1, columns}), out({1, count * columns});
  mix_.step(x.data(), mixed.write().data());
  last.append(mixed);
  const std::vector<const Real*> rows = last.taps();
  Real* to = out.write().data();
  core::parallel_for(count, 1, [&](Index i, Index) {
    const Convolution& own = convolutions_[std::size_t(i)];
    const autograd::ModulePlane window = plane(own);
    Tensor windows({modules_, window.window()});
    window.gather(rows.data(), windows.write().data());
    for (Index s = 0; s < modules_; ++s) std::copy_n(own.bias.data(), M, to + i * columns + s * M);
    core::gemm(1, core::ConstMatrix{windows.data(), modules_, window.window(), window.window()},
               core::ConstMatrix{own.weight.data(), window.window(), M, M}, 1,
               {to + i * columns, modules_, M, M});
    core::counters().weight_bytes.fetch_add(own.weight.shape().size() * Index(sizeof(Real)),
                                            std::memory_order_relaxed);
  });
  return out;
}

Index SparseProjection::weights() const {
  Index total = mix_.weights();
  for (const Convolution& own : convolutions_) total += own.weight.shape().size();
  return total;
}

void SparseProjection::visit(Inventory& inventory) {
  inventory.enter("mix", mix_);
  for (Convolution& own : convolutions_) {
    inventory.add(own.name + ".weight", own.weight);
    inventory.add(own.name + ".bias", own.bias);
  }
}

}  // namespace weft::layers
