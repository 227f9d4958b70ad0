#include "autograd/ops.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// max(x, 0).  dx = dy where y > 0, else 0.  Saves: y.
Var relu(const Var& x) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(y.size(), core::elementwise_grain, [&](Index begin, Index end) {
    core::simd().relu(x.value().data() + begin, to + begin, end - begin);
  });
  const Tensor saved = y;
  return record("relu", std::move(y), {x}, [saved](Tensor dy) {
    Real* d = dy.write().data();
    core::parallel_for(dy.size(), core::elementwise_grain, [&](Index begin, Index end) {
      core::simd().relu_gradient(saved.data() + begin, d + begin, end - begin);
    });
    return Gradients{std::move(dy)};
  });
}

}  // namespace weft::autograd
