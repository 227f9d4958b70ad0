#pragma once

#include "layers/linear.h"

namespace weft::layers {

/// gelu(x W1 + b1) W2 + b2.  x: [..., W] -> [..., W], through F hidden units.
class FeedForward {
 public:
  FeedForward(Index width, Index hidden, Init in, Init out)
      : in_(width, hidden, in), out_(hidden, width, out) {}

  Var forward(const Var& x) const { return out_.forward(hidden(x)); }
  /// residual + forward(x)
  Var onto(const Var& residual, const Var& x) const { return out_.onto(residual, hidden(x)); }

  Index weights() const { return in_.weights() + out_.weights(); }

  void visit(Inventory& inventory) {
    inventory.enter("in", in_);
    inventory.enter("out", out_);
  }

 private:
  Var hidden(const Var& x) const { return autograd::bias_gelu(in_.product(x), in_.bias()); }

  Linear in_, out_;
};

}  // namespace weft::layers
