#include "autograd/ops.h"

namespace weft::autograd {

/// The same elements in another shape.  dx = dy reshaped back.  Saves: nothing.
Var reshape(const Var& x, Shape shape) {
  return record("reshape", x.value().reshaped(shape), {x},
                [before = x.shape()](Tensor dy) { return Gradients{dy.reshaped(before)}; });
}

}  // namespace weft::autograd
