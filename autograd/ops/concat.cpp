#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {

/// Parts side by side along the last axis.  Each part's gradient is its columns of dy.
/// Saves: nothing.
Var concat(const std::vector<Var>& parts) {
  core::require(!parts.empty() && parts[0].shape().rank() >= 1, "concat: nothing to join");
  Index width = 0;
  for (const Var& part : parts) {
    core::require(part.shape().rank() == parts[0].shape().rank() &&
                      with_columns(part.shape(), 0) == with_columns(parts[0].shape(), 0),
                  "concat: shapes ", parts[0].shape(), " and ", part.shape());
    width += part.shape().back();
  }
  Tensor y(with_columns(parts[0].shape(), width));
  std::vector<Shape> shapes;
  Index column = 0;
  for (const Var& part : parts) {
    put_columns(part.value(), y, column);
    column += part.shape().back();
    shapes.push_back(part.shape());
  }
  return record("concat", std::move(y), parts, [shapes](Tensor dy) {
    Gradients gradients;
    Index first = 0;
    for (const Shape& shape : shapes) {
      gradients.push_back(take_columns(dy, first, shape.back()));
      first += shape.back();
    }
    return gradients;
  });
}

}  // namespace weft::autograd
