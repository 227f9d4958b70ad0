#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd {

/// y = x, and the journal's charges grow by the penalty.
/// dx = dy; the penalty's gradient is the one at which charges joined the loss.  Saves: nothing.
Var penalise(const Pass& pass, const Var& x, const Var& penalty) {
  Journal* journal = pass.journal();
  if (!journal) return x;
  if (!pass.replaying()) journal->charge(double(core::scalar(penalty.value())));
  return record("penalise", x.value(), {x, penalty}, [journal](Tensor dy) {
    return Gradients{std::move(dy), Tensor({1}, journal->penalty_gradient)};
  });
}

/// The sum of the charges. It comes after them on the tape, so the sweep comes here first and
/// leaves the gradient for them.  Saves: nothing.
Var penalties(const Pass& pass) {
  Journal* journal = pass.journal();
  if (!journal || !journal->has_charges()) return {};
  Tensor total({1}, Real(journal->take_charges()));
  if (!pass.tape()) return Var(std::move(total));
  return pass.tape()->record("penalties", std::move(total), {}, [journal](Tensor dy) {
    journal->penalty_gradient = core::scalar(dy);
    return Gradients{};
  });
}

}  // namespace weft::autograd
