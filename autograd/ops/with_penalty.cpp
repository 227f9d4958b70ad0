#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {

/// y, with the penalty's gradient added to the sweep that passes here.
/// dy passes through; the penalty receives `share`.  Saves: nothing.
Var with_penalty(const Var& y, const Var& penalty, Real share) {
  core::require(penalty.shape().size() == 1, "with_penalty: a penalty of shape ", penalty.shape(),
                ", expected one number");
  return record("with_penalty", y.value(), {y, penalty},
                [share, shape = penalty.shape()](Tensor dy) {
                  return Gradients{std::move(dy), Tensor(shape, share)};
                });
}

}  // namespace weft::autograd
