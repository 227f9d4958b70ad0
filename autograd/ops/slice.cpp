#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {

/// Columns [first, first + count) of the last axis.  dx is dy there and zero elsewhere.
/// Saves: nothing.
Var slice(const Var& x, Index first, Index count) {
  core::require(
      x.shape().rank() >= 1 && first >= 0 && count > 0 && first + count <= x.shape().back(),
      "slice: columns [", first, ", ", first + count, ") of shape ", x.shape());
  return record("slice", take_columns(x.value(), first, count), {x},
                [shape = x.shape(), first](Tensor dy) {
                  Tensor dx(shape, 0);
                  put_columns(dy, dx, first);
                  return Gradients{std::move(dx)};
                });
}

}  // namespace weft::autograd
