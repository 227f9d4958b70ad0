#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

/// Row i of x times weights[i].
Tensor weighed(const Tensor& x, const Tensor& weights) {
  const Index n = x.shape().back();
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(x.shape()[0], 64, [&](Index begin, Index end) {
    std::copy_n(x.data() + begin * n, (end - begin) * n, to + begin * n);
    for (Index i = begin; i < end; ++i) core::simd().scale(weights.data()[i], to + i * n, n);
  });
  return y;
}

}  // namespace

/// w_i x_i.  dx_i = w_i dy_i, dw_i = x_i . dy_i.  Saves: x and w.
Var weigh_rows(const Var& x, const Var& weights) {
  const Shape& shape = x.shape();
  core::require(shape.rank() == 2 && weights.shape() == Shape{shape[0], 1},
                "weigh_rows: weights of shape ", weights.shape(), " for rows of shape ", shape);
  const Tensor rows = x.value(), w = weights.value();
  return record("weigh_rows", weighed(rows, w), {x, weights}, [rows, w](const Tensor& dy) {
    const Index n = rows.shape().back();
    Tensor dw(w.shape());
    Real* to = dw.write().data();
    core::parallel_for(w.size(), 64, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        to[i] = core::simd().dot(rows.data() + i * n, dy.data() + i * n, n);
    });
    return Gradients{weighed(dy, w), std::move(dw)};
  });
}

}  // namespace weft::autograd
