#include "autograd/ops.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

/// The sum of all elements.  dx = dy everywhere.  Saves: nothing.
Var sum(const Var& x) {
  Tensor y({1}, core::simd().sum(x.value().data(), x.value().size()));
  return record("sum", std::move(y), {x}, [shape = x.shape()](Tensor dy) {
    return Gradients{Tensor(shape, core::scalar(dy))};
  });
}

}  // namespace weft::autograd
