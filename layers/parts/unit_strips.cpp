#include "layers/parts/unit_strips.h"

#include <algorithm>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

constexpr Index line = 64 / Index(sizeof(Real));  ///< numbers in a cache line

Index padded(Index width) { return (width + line - 1) / line * line; }

/// Asks for the first lines of a strip; the processor follows by itself from there.
void prefetch(const Real* strip) {
  for (Index i = 0; i < 8; ++i) __builtin_prefetch(strip + i * line);
}

}  // namespace

void UnitStrips::refresh() const {
  if (strips_.size() > 0 && in_generation_ == in_->generation() &&
      out_generation_ == out_->generation())
    return;
  const Index units = in_->shape()[0], width = in_->shape()[1], half = padded(width);
  if (strips_.size() == 0) strips_ = Tensor({units, 2, half}, 0);
  Real* to = strips_.write().data();
  core::parallel_for(units, line, [&](Index begin, Index end) {
    for (Index u = begin; u < end; ++u)
      std::copy_n(in_->data() + u * width, width, to + 2 * u * half);
    for (Index i = 0; i < width; ++i)
      for (Index u = begin; u < end; ++u) to[(2 * u + 1) * half + i] = out_->data()[i * units + u];
  });
  in_generation_ = in_->generation();
  out_generation_ = out_->generation();
}

void UnitStrips::add_live_units(const autograd::LiveUnits& live, Index block, const Real* x,
                                Real* y) const {
  refresh();
  const Index width = in_->shape()[1], half = padded(width), blocks = Index(live.size());
  constexpr Index least = 1 << 14;  // weights below which a group is not worth a task
  const Index group = std::max((blocks + 7) / 8, std::min(blocks, least / width + 1));
  const Index groups = (blocks + group - 1) / group;
  Tensor partial({groups, width}, 0);
  Real* sums = partial.write().data();
  const auto strip = [&](Index b) {
    return strips_.data() + 2 * half * (b * block + live[std::size_t(b)]);
  };
  core::parallel_for(blocks, group, [&](Index begin, Index end) {
    Real* own = sums + begin / group * width;
    Index open = 0;
    for (Index b = begin; b < end; ++b) {
      if (b + 1 < end) prefetch(strip(b + 1));
      const Real h = core::simd().dot(strip(b), x, width);
      if (!(h > 0)) continue;
      core::simd().axpy(h, strip(b) + half, own, width);
      ++open;
    }
    const Index numbers = (end - begin + open) * width;
    core::counters().weight_bytes.fetch_add(numbers * Index(sizeof(Real)),
                                            std::memory_order_relaxed);
    core::counters().flops.fetch_add(2 * numbers, std::memory_order_relaxed);
  });
  for (Index g = 0; g < groups; ++g) core::simd().axpy(1, sums + g * width, y, width);
}

}  // namespace weft::layers
