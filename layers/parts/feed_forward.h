#pragma once

#include "layers/parts/linear.h"

namespace weft::layers {

/// What a block does to each token by itself.  x: [N, W] -> [N, W]
class FeedForward {
 public:
  virtual ~FeedForward() = default;

  virtual Var forward(const Pass& pass, const Var& x) const = 0;
  /// residual + forward(x)
  virtual Var onto(const Pass& pass, const Var& residual, const Var& x) const {
    return autograd::add(residual, forward(pass, x));
  }
  /// One token in evaluation.  x: [1, W] -> [1, W]
  virtual Tensor step(const Tensor& x) const { return forward(Pass(), Var(x)).value(); }

  /// Numbers in weight matrices.
  virtual Index weights() const = 0;
  virtual void visit(Inventory& inventory) = 0;
};

}  // namespace weft::layers
