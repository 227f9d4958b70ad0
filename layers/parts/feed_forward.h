#pragma once

#include "layers/attention/contract/attention.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// What a block does to each token by itself.  x: [N, W] -> [N, W]
/// `sequences` says which rows are one sequence and which are padding, for a part that counts
/// tokens; rows of padding may come out as anything finite.
class FeedForward {
 public:
  virtual ~FeedForward() = default;

  virtual Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const = 0;
  /// residual + forward(x)
  virtual Var onto(const Pass& pass, const Var& residual, const Var& x,
                   const Sequences& sequences) const {
    return autograd::add(residual, forward(pass, x, sequences));
  }
  /// One token in evaluation.  x: [1, W] -> [1, W]
  virtual Tensor step(const Tensor& x) const {
    return forward(Pass(), Var(x), Sequences::self(1, 1, true)).value();
  }

  /// Numbers in weight matrices that one token is multiplied with.
  virtual Index weights() const = 0;
  /// What it reports of itself for the metrics.
  virtual std::vector<Metric> metrics() const { return {}; }
  virtual void visit(Inventory& inventory) = 0;
};

}  // namespace weft::layers
