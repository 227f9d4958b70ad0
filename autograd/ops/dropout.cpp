#include <cstdint>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// x[i] keep_scale where word i of the stream is at least `threshold`, else 0. One Philox block
/// serves four neighbours, and pieces start at multiples of four.
Tensor masked(const Tensor& x, const core::Rng& stream, std::uint32_t threshold, Real keep_scale) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  const Real* from = x.data();
  core::parallel_for(x.size(), core::elementwise_grain, [=](Index begin, Index end) {
    for (Index i = begin; i < end; i += 4) {
      const auto words = stream.block(std::uint64_t(i / 4));
      for (Index j = i; j < i + 4 && j < end; ++j)
        to[j] = words[std::size_t(j - i)] >= threshold ? from[j] * keep_scale : 0;
    }
  });
  return y;
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
  return record("dropout", masked(x.value(), stream, threshold, keep_scale), {x},
                [stream, threshold, keep_scale](Tensor dy) {
                  return Gradients{masked(dy, stream, threshold, keep_scale)};
                });
}

}  // namespace weft::autograd
