#include "layers/attention/fittings/head_norm.h"

#include <vector>

#include "autograd/row_sums.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {

/// With n = x / root, m = dy gain: dx = (m - n mean(n m)) / root, dgain = sum dy n.  Saves: x.
Var norm_heads(const HeadBlock& x, Index heads, const autograd::Parameter& gain, Real eps) {
  const Index width = gain.shape().size(), columns = heads * width, rows = x.matrix.shape()[0];
  const ConstHeads given = heads_of(x);
  Tensor y({rows, columns});
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(columns), [&](Index begin, Index end) {
    Real inverse;
    for (Index r = begin; r < end; ++r)
      for (Index c = 0; c < columns; c += width)
        core::simd().rms_norm(given.data + r * given.stride + c, gain.data(), eps,
                              to + r * columns + c, &inverse, width);
  });
  const HeadGradients gradients({x}, columns);
  return autograd::record(
      "norm_heads", std::move(y), gradients.sources(),
      [x, gradients, &gain, eps, rows, columns, width](Tensor dy) {
        autograd::Gradients all = gradients.allocate();
        const ConstHeads from = heads_of(x);
        const Heads dx = gradients.heads(all, 0);
        autograd::sum_over_rows(
            rows, width, gain.gradient(), [&](Index begin, Index end, Real* sums) {
              std::vector<Real> normal(static_cast<std::size_t>(width));
              Real inverse;
              for (Index r = begin; r < end; ++r)
                for (Index c = 0; c < columns; c += width) {
                  const Real* own = from.data + r * from.stride + c;
                  core::simd().rms_norm(own, gain.data(), eps, normal.data(), &inverse, width);
                  core::simd().rms_norm_gradient(own, gain.data(), dy.data() + r * columns + c,
                                                 inverse, dx.data + r * dx.stride + c, sums, width);
                }
            });
        return all;
      });
}

}  // namespace weft::layers
