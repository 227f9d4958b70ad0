#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// y = h gain with h = x / sqrt(mean(x^2) + eps) over the last axis.
/// dx = (g - h mean(g h)) / root with g = gain dy; dgain = sum dy h.
/// Saves: x, and the reciprocal root of each row.
Var rms_norm(const Var& x, const Parameter& gain, Real eps) {
  const Index n = x.shape().rank() ? x.shape().back() : 0;
  core::require(n > 0 && gain.shape() == Shape{n}, "rms_norm: gain ", gain.shape(), " for input ",
                x.shape());
  const Index rows = x.shape().rows();
  Tensor y(x.shape()), inverses({rows});
  Real *to = y.write().data(), *inverse = inverses.write().data();
  const Real* from = x.value().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      core::simd().rms_norm(from + r * n, gain.data(), eps, to + r * n, inverse + r, n);
  });
  return record(
      "rms_norm", std::move(y), {x}, [saved = x.value(), inverses, &gain, n, rows](Tensor dy) {
        Tensor dx(dy.shape());
        Real* d = dx.write().data();
        const auto pull = [&](Index begin, Index end, Real* sums) {
          for (Index r = begin; r < end; ++r)
            core::simd().rms_norm_gradient(saved.data() + r * n, gain.data(), dy.data() + r * n,
                                           inverses.data()[r], d + r * n, sums, n);
        };
        sum_over_rows(rows, n, gain.gradient(), pull);
        return Gradients{std::move(dx)};
      });
}

}  // namespace weft::autograd
