#include <vector>

#include "autograd/kept_rows.h"
#include "autograd/ops.h"
#include "autograd/row_sums.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// y = z Phi(z) with z = x + bias and Phi the normal distribution function.
/// dx = dy (Phi(z) + z phi(z)), dbias = its column sums.  Saves: x, rounded if kept in bf16.
Var bias_gelu(const Var& x, const Parameter& bias, core::Precision kept) {
  core::require(x.shape().rank() >= 1 && bias.shape() == Shape{x.shape().back()},
                "bias_gelu: bias of shape ", bias.shape(), " for input ", x.shape());
  const Index n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape());
  Real* to = y.write().data();
  const Real* from = x.value().data();
  core::parallel_for(rows, core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      core::simd().bias_gelu(from + r * n, bias.data(), to + r * n, n);
  });
  if (!x.tape()) return y;
  const KeptRows saved(x.value(), kept);
  return record("bias_gelu", std::move(y), {x}, [saved, &bias, n, rows](Tensor dy) {
    Real* d = dy.write().data();
    const auto pull = [&](Index begin, Index end, Real* sums) {
      std::vector<Real> room(std::size_t(n), 0);
      for (Index r = begin; r < end; ++r) {
        core::simd().bias_gelu_gradient(saved.row(r, room.data()), bias.data(), d + r * n, n);
        core::simd().axpy(1, d + r * n, sums, n);
      }
    };
    sum_over_rows(rows, n, bias.gradient(), pull);
    return Gradients{std::move(dy)};
  });
}

Var bias_gelu(const Var& x, const Parameter& bias) {
  return bias_gelu(x, bias, core::Precision::float32);
}

}  // namespace weft::autograd
