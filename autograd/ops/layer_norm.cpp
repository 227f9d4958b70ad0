#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// y = h gain + bias with h = (x - mean) / sqrt(variance + eps) over the last axis.
/// dx = (g - mean(g) - h mean(g h)) / deviation with g = gain dy; dgain = sum dy h, dbias = sum dy.
/// Saves: x, and each row's mean and reciprocal deviation.
Var layer_norm(const Var& x, const Parameter& gain, const Parameter& bias, Real eps) {
  const Index n = x.shape().rank() ? x.shape().back() : 0;
  core::require(n > 0 && gain.shape() == Shape{n} && bias.shape() == Shape{n}, "layer_norm: gain ",
                gain.shape(), " and bias ", bias.shape(), " for input ", x.shape());
  const Index rows = x.shape().rows();
  Tensor y(x.shape()), moments({rows, 2});
  Real *to = y.write().data(), *moment = moments.write().data();
  const Real* from = x.value().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      core::simd().layer_norm(from + r * n, gain.data(), bias.data(), eps, to + r * n,
                              moment + 2 * r, moment + 2 * r + 1, n);
  });
  return record("layer_norm", std::move(y), {x},
                [saved = x.value(), moments, &gain, &bias, n, rows](Tensor dy) {
                  Tensor dx(dy.shape());
                  Real* d = dx.write().data();
                  // Gain and bias gradients side by side: [2, n].
                  Tensor both({2, n}, 0);
                  sum_over_rows(rows, 2 * n, both.write(), [&](Index begin, Index end, Real* sums) {
                    for (Index r = begin; r < end; ++r) {
                      const Real* m = moments.data() + 2 * r;
                      core::simd().layer_norm_gradient(saved.data() + r * n, gain.data(),
                                                       dy.data() + r * n, m[0], m[1], d + r * n,
                                                       sums, sums + n, n);
                    }
                  });
                  if (!gain.gradient().empty())
                    core::simd().axpy(1, both.data(), gain.gradient().data(), n);
                  if (!bias.gradient().empty())
                    core::simd().axpy(1, both.data() + n, bias.gradient().data(), n);
                  return Gradients{std::move(dx)};
                });
}

}  // namespace weft::autograd
