#pragma once

#include "core/fields.h"
#include "layers/parts/experts/expert_ops.h"
#include "layers/parts/feed_forward.h"

namespace weft::layers {

/// Which experts the tokens choose.
struct ExpertSettings {
  enum class Second { all, random };

  Index experts = 8;
  Index choices = 1;              ///< experts of a token
  double balance = 0.01;          ///< price of uneven use
  double capacity = 0;            ///< an expert's places over its even share; 0: any number
  Second second = Second::all;    ///< which second choices are kept in training
  double second_threshold = 0.2;  ///< random: the gate from which a second choice is always kept
  double jitter = 0;              ///< noise of the router's input in training
  bool raw_gates = false;         ///< gates of several choices are not made to sum to one
  double gate_eps = 1e-9;         ///< added to the sum by which gates are divided

  void fields(core::Fields& field);
  /// A later token can take the place of an earlier one's second choice.
  bool leaks() const { return capacity > 0 && choices > 1; }
};

/// A mixture of experts: E feed-forwards gelu(x W1 + b1) W2 + b2 of F units each, of which a router
/// P = softmax(x R) gives every token the most probable `choices`, weighed by their gates: P itself
/// for one choice, so that the router learns from what its expert did, and P over their sum for
/// several. Training pays `balance` times expert_balance for uneven use.
///
/// Choices are decisions, read back in a replay. With a capacity, an expert takes at most
/// ceil(capacity * choices * tokens / E) rows of a call, by position, and what it does not take is
/// lost; a token that is decoded alone loses nothing. One token costs choices experts and the
/// router, and a decoded one reads no other weights.
class ExpertFeedForward final : public FeedForward {
 public:
  ExpertFeedForward(Index width, Index hidden, const ExpertSettings& settings, Init in, Init out);

  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const override;
  Tensor step(const Tensor& x) const override;

  Index weights() const override;
  /// Of the last training step: the largest and smallest share of rows that an expert took, the
  /// entropy of the shares in bits, and the share of choices that found an expert full.
  std::vector<autograd::Metric> metrics() const;
  void visit(Inventory& inventory) override;

  /// The router's, with its input as a training pass jitters it.  x: [N, W] -> [N, E]
  Var probabilities(const Pass& pass, const Var& x) const;
  /// By which `rows` real rows of a call choose.
  ChoiceRule rule(const Pass& pass, Index rows) const;

 private:
  /// One token.  x: [1, W] -> [1, W]
  Tensor step_row(const Tensor& x) const;
  ExpertWeights experts() const { return {in_, in_bias_, out_, out_bias_}; }
  void propose_use(const Pass& pass, const ExpertChoice& choice) const;

  ExpertSettings settings_;
  Parameter router_;                         ///< [E, W]
  Parameter in_, in_bias_, out_, out_bias_;  ///< as ExpertWeights has them
  mutable autograd::State use_;  ///< [E + 1]: rows that each expert took in the last step; lost
};

}  // namespace weft::layers
