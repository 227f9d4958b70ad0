#include <cstdint>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// x[i] *= keep_scale where word i of the stream is at least `threshold`, else 0. One Philox block
/// serves four neighbours, and pieces start at multiples of four.
void mask(Tensor& x, const core::Rng& stream, std::uint32_t threshold, Real keep_scale) {
  Real* data = x.write().data();
  core::parallel_for(x.size(), core::elementwise_grain, [=](Index begin, Index end) {
    for (Index i = begin; i < end; i += 4) {
      const auto words = stream.block(std::uint64_t(i / 4));
      for (Index j = i; j < i + 4 && j < end; ++j)
        data[j] = words[std::size_t(j - i)] >= threshold ? data[j] * keep_scale : 0;
    }
  });
}

}  // namespace

/// y = x mask / (1 - rate).  dx = dy mask / (1 - rate).
/// Saves: nothing; the pullback draws the same mask from the pass's stream again.
Var dropout(const Pass& pass, const Var& x, Real rate) {
  core::require(rate >= 0 && rate < 1, "dropout: needs a rate in [0, 1), got ", rate);
  if (!pass.training() || rate == 0) return x;
  const auto threshold = std::uint32_t(double(rate) * 0x1p32);
  const core::Rng stream = pass.stream().fold("dropout");
  const Real keep_scale = 1 / (1 - rate);
  Tensor y(x.shape(), 0);
  core::accumulate(y, x.value());
  mask(y, stream, threshold, keep_scale);
  return record("dropout", std::move(y), {x}, [stream, threshold, keep_scale](Tensor dy) {
    mask(dy, stream, threshold, keep_scale);
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
