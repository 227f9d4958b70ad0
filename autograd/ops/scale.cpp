#include "autograd/ops.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {
namespace {

void multiply(Tensor& x, Real factor) {
  Real* data = x.write().data();
  core::parallel_for(x.size(), core::elementwise_grain, [=](Index begin, Index end) {
    core::simd().scale(factor, data + begin, end - begin);
  });
}

}  // namespace

/// factor x.  dx = factor dy.  Saves: nothing.
Var scale(const Var& x, Real factor) {
  Tensor y(x.shape(), 0);
  core::accumulate(y, x.value());
  multiply(y, factor);
  return record("scale", std::move(y), {x}, [factor](Tensor dy) {
    multiply(dy, factor);
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
