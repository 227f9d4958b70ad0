#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// y[i] = x[i] + factors[i] row.
/// dx = dy; drow = sum over i of factors[i] dy[i], in order; tasks split the columns.
/// Saves: factors.
Var add_multiples(const Var& x, const Parameter& row, const Tensor& factors) {
  const Index n = row.shape().size();
  core::require(x.shape().rank() == 2 && x.shape()[1] == n && factors.size() == x.shape()[0],
                "add_multiples: input ", x.shape(), ", row ", row.shape(), ", factors ",
                factors.shape());
  Tensor y = x.value();
  Real* const to = y.write().data();
  core::parallel_for(factors.size(), core::rows_per_piece(n), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      core::simd().axpy(factors.data()[r], row.data(), to + r * n, n);
  });
  return record("add_multiples", std::move(y), {x}, [&row, factors, n](Tensor dy) {
    const std::span<Real> gradient = row.gradient();
    constexpr Index columns = 64;
    if (!gradient.empty())
      core::parallel_for(n, columns, [&](Index begin, Index end) {
        for (Index r = 0; r < factors.size(); ++r)
          core::simd().axpy(factors.data()[r], dy.data() + r * n + begin, gradient.data() + begin,
                            end - begin);
      });
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
