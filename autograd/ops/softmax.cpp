#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// y = e^x / sum of e^x over the last axis.
/// dx = y (dy - sum of y dy).  Saves: y.
Var softmax(const Var& x) {
  core::require(x.shape().rank() >= 1 && x.shape().back() > 0, "softmax: input of shape ",
                x.shape());
  const Index n = x.shape().back(), rows = x.shape().rows();
  Tensor y(x.shape());
  Real* to = y.write().data();
  const Real* from = x.value().data();
  core::parallel_for(rows, core::rows_per_piece(n), [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      Real* own = to + r * n;
      std::copy_n(from + r * n, n, own);
      const Real top = core::simd().max(own, n);
      core::simd().scale(1 / core::simd().exp_sum(own, 1, top, n), own, n);
    }
  });
  return record("softmax", y, {x}, [saved = y, n, rows](Tensor dy) {
    const Real* p = saved.data();
    Real* d = dy.write().data();
    core::parallel_for(rows, core::rows_per_piece(n), [=](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        const Real mean = core::simd().dot(p + r * n, d + r * n, n);
        for (Index i = r * n; i < (r + 1) * n; ++i) d[i] = p[i] * (d[i] - mean);
      }
    });
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
