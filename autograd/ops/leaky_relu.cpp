#include "autograd/ops.h"
#include "core/parallel.h"

namespace weft::autograd {
namespace {

/// from where x is above zero, else slope * from.
Tensor scaled_below_zero(const Tensor& x, const Tensor& from, Real slope) {
  Tensor y(x.shape());
  Real* to = y.write().data();
  core::parallel_for(x.size(), core::elementwise_grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      to[i] = x.data()[i] > 0 ? from.data()[i] : slope * from.data()[i];
  });
  return y;
}

}  // namespace

/// x where x > 0, else slope x.  dx = dy where x > 0, else slope dy.  Saves: x.
Var leaky_relu(const Var& x, Real slope) {
  const Tensor saved = x.value();
  return record(
      "leaky_relu", scaled_below_zero(saved, saved, slope), {x},
      [saved, slope](const Tensor& dy) { return Gradients{scaled_below_zero(saved, dy, slope)}; });
}

}  // namespace weft::autograd
