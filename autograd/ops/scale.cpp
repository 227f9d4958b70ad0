#include <algorithm>

#include "autograd/ops.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

Tensor multiplied(const Tensor& x, Real factor) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(x.size(), core::elementwise_grain, [&](Index begin, Index end) {
    std::copy_n(x.data() + begin, end - begin, to + begin);
    core::simd().scale(factor, to + begin, end - begin);
  });
  return y;
}

}  // namespace

/// factor x.  dx = factor dy.  Saves: nothing.
Var scale(const Var& x, Real factor) {
  return record("scale", multiplied(x.value(), factor), {x},
                [factor](Tensor dy) { return Gradients{multiplied(dy, factor)}; });
}

}  // namespace weft::autograd
