#include "layers/attention/chosen/linear_pool.h"

#include <algorithm>
#include <cmath>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {

using autograd::Init;

LinearPool::LinearPool(const EntryLayout& layout, Index heads, Index head_width)
    : layout_(layout),
      heads_(heads),
      width_(head_width),
      weight_({2 * heads * head_width, layout.block * head_width},
              Init::normal(1 / std::sqrt(double(layout.block * head_width)))),
      places_({2 * heads, layout.block * head_width}, Init::normal(0.02)) {}

void LinearPool::unfold(Index side, Index g, const Real* rows, Index step, Real* to) const {
  const Real* place = places_.data() + head(side, g) * stretch();
  for (Index a = 0; a < layout_.block; ++a)
    core::simd().add(rows + a * step + g * width_, place + a * width_, to + a * width_, width_);
}

void LinearPool::pool_entry(Index side, const Real* rows, Index step, Real* entry) const {
  std::vector<Real> unfolded(static_cast<std::size_t>(stretch()));
  for (Index g = 0; g < heads_; ++g) {
    unfold(side, g, rows, step, unfolded.data());
    const Real* weight = weight_.data() + head(side, g) * width_ * stretch();
    for (Index d = 0; d < width_; ++d)
      entry[g * width_ + d] = core::simd().dot(weight + d * stretch(), unfolded.data(), stretch());
  }
  core::counters().flops.fetch_add(2 * heads_ * width_ * stretch(), std::memory_order_relaxed);
}

/// With X the unfolded stretches of a head and their places, Y = X W^T:
///   dX = dY W, added to the tokens and summed for the places, dW += dY^T X.
void LinearPool::pull_back(Index side, Index g, ConstHeads x, const Real* dy, Index batch,
                           Index length, Heads dx) const {
  const Index entries = layout_.count(length), own = head(side, g), first = g * width_;
  const Index weights = own * width_ * stretch();
  const core::ConstMatrix weight{weight_.data() + weights, width_, stretch(), stretch()};
  const bool trains = !weight_.gradient().empty();
  Tensor unfolded({entries, stretch()}), dunfolded({entries, stretch()});
  Real *to = unfolded.write().data(), *back = dunfolded.write().data();
  for (Index b = 0; b < batch; ++b) {
    for (Index t = b * length; t < (b + 1) * length; ++t)
      std::fill_n(dx.data + t * dx.stride + first, width_, Real(0));
    const core::ConstMatrix upstream{dy + b * entries * 2 * heads_ * width_ + own * width_, entries,
                                     width_, 2 * heads_ * width_};
    core::gemm(1, upstream, weight, 0, core::Matrix{back, entries, stretch(), stretch()});
    for (Index e = 0; e < entries; ++e) {
      const Index row = b * length + e * layout_.stride;
      for (Index a = 0; a < layout_.block; ++a)
        core::simd().axpy(1, back + e * stretch() + a * width_,
                          dx.data + (row + a) * dx.stride + first, width_);
      unfold(side, g, x.data + row * x.stride, x.stride, to + e * stretch());
      if (trains)
        core::simd().axpy(1, back + e * stretch(), places_.gradient().data() + own * stretch(),
                          stretch());
    }
    if (trains)
      core::gemm(1, core::transposed(upstream),
                 core::ConstMatrix{to, entries, stretch(), stretch()}, 1,
                 core::Matrix{weight_.gradient().data() + weights, width_, stretch(), stretch()});
  }
}

/// Saves: nothing but the projections.
Var LinearPool::pool(const HeadBlock& k, const HeadBlock& v, Index batch) const {
  const Index length = k.matrix.shape()[0] / batch, entries = layout_.count(length);
  const Index columns = heads_ * width_;
  const std::vector<HeadBlock> blocks{k, v};
  Tensor y({batch * entries, 2 * columns});
  Real* to = y.write().data();
  core::parallel_for(
      batch * entries, core::rows_per_piece(2 * columns * stretch()), [&](Index begin, Index end) {
        for (Index e = begin; e < end; ++e)
          for (Index side = 0; side < 2; ++side) {
            const ConstHeads x = heads_of(blocks[std::size_t(side)]);
            const Index row = e / entries * length + e % entries * layout_.stride;
            pool_entry(side, x.data + row * x.stride, x.stride, to + (2 * e + side) * columns);
          }
      });
  const HeadGradients gradients(blocks, columns);
  return autograd::record("linear_pool", std::move(y), gradients.sources(),
                          [this, blocks, gradients, batch, length](Tensor dy) {
                            autograd::Gradients d = gradients.allocate();
                            const Heads dx[] = {gradients.heads(d, 0), gradients.heads(d, 1)};
                            core::parallel_for(2 * heads_, 1, [&](Index task, Index) {
                              const Index side = task / heads_;
                              pull_back(side, task % heads_, heads_of(blocks[std::size_t(side)]),
                                        dy.data(), batch, length, dx[side]);
                            });
                            return d;
                          });
}

Cost LinearPool::cost(Index entries) const {
  const Index product = 2 * entries * 2 * heads_ * width_ * stretch();
  return {.flops = product, .backward_flops = 2 * product};
}

void LinearPool::visit(autograd::Inventory& inventory) {
  inventory.add("weight", weight_);
  inventory.add("places", places_);
}

}  // namespace weft::layers
