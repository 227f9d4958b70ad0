#pragma once

#include "layers/output/token_scores.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// An output layer for values 0 .. levels - 1 that are near each other when their numbers are: a
/// mixture of K logistics over the line, rounded to the values. theta = h weight^T + bias holds K
/// logits, K means and K logarithms of scales, the latter at least -7.  h: [N, n]
class MixtureOutput {
 public:
  MixtureOutput(Index levels, Index width, Index mixtures, Init init);

  /// Mean loss in nats over the counted targets, times `share`.
  Var loss(const Var& h, const core::Tokens& targets, Real share) const;
  TokenScores score(const Tensor& h, const core::Tokens& targets) const;
  /// ln of the probability of every value; the least finite number for tokens that are no values.
  /// -> [N, vocabulary]
  Tensor logits(const Tensor& h, Index vocabulary) const;

  Index weights() const { return weight_.shape().size(); }
  void visit(Inventory& inventory);

 private:
  Var theta(const Var& h) const { return autograd::linear(h, weight_, &bias_); }
  /// Probabilities of all values under a row of theta.
  std::vector<double> probabilities(const Real* theta) const;

  Index levels_, mixtures_;
  Parameter weight_, bias_;
};

}  // namespace weft::layers
