#pragma once

#include <optional>

#include "core/arrays/tokens.h"
#include "layers/output/token_scores.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// From one vector for each sequence to its class: a linear layer, or before it a hidden layer with
/// relu.  x: [B, n]
class ClassHead {
 public:
  /// `hidden`: units of the hidden layer; 0: there is none.
  ClassHead(Index width, Index hidden, Index classes, Init init);

  /// Mean loss in nats over the counted targets, times `share`.
  Var loss(const Var& x, const core::Tokens& targets, Real share) const;
  TokenScores score(const Tensor& x, const core::Tokens& targets) const;
  /// -> [B, classes]
  Var logits(const Var& x) const { return classes_.forward(before(x)); }

  /// Numbers in weight matrices.
  Index weights() const { return (hidden_ ? hidden_->weights() : 0) + classes_.weights(); }
  void visit(Inventory& inventory);

 private:
  Var before(const Var& x) const { return hidden_ ? autograd::relu(hidden_->forward(x)) : x; }

  std::optional<Linear> hidden_;
  Linear classes_;
};

}  // namespace weft::layers
