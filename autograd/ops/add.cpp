#include "autograd/ops.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// x + y.  dx = dy = the output's gradient, shared.  Saves: nothing.
Var add(const Var& x, const Var& y) {
  core::require(x.shape() == y.shape(), "add: shapes ", x.shape(), " and ", y.shape());
  Tensor z(x.shape());
  Real* to = z.write().data();
  core::parallel_for(z.size(), core::elementwise_grain, [&](Index begin, Index end) {
    core::simd().add(x.value().data() + begin, y.value().data() + begin, to + begin, end - begin);
  });
  return record("add", std::move(z), {x, y}, [](Tensor dz) { return Gradients{dz, dz}; });
}

}  // namespace weft::autograd
