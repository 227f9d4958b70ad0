#include "layers/output/class_head.h"

namespace weft::layers {

ClassHead::ClassHead(Index width, Index hidden, Index classes, Init init)
    : classes_(hidden > 0 ? hidden : width, classes, init) {
  if (hidden > 0) hidden_.emplace(width, hidden, init);
}

Var ClassHead::loss(const Var& x, const core::Tokens& targets, Real share) const {
  return autograd::cross_entropy(before(x), classes_.weight(), &classes_.bias(), targets, share);
}

TokenScores ClassHead::score(const Tensor& x, const core::Tokens& targets) const {
  return score_tokens(before(Var(x)).value(), classes_.weight().value(), targets,
                      &classes_.bias().value());
}

void ClassHead::visit(Inventory& inventory) {
  if (hidden_) inventory.enter("hidden", *hidden_);
  inventory.enter("classes", classes_);
}

}  // namespace weft::layers
