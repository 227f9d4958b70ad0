#pragma once

#include "core/fields.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/unit_strips.h"

namespace weft::layers {

/// How a sparse feed-forward chooses its units.
struct SparseFeedForwardSettings {
  Index block = 64;          ///< N: units of a block, of which one is active
  Index rank = 64;           ///< r, of the controller
  double temperature = 0.1;  ///< of the noise in a training step's choices
  double hard = 0.3;         ///< share of training steps that choose; the others weigh
  bool mask_inside = true;   ///< relu(h gate) rather than relu(h) gate

  /// Lists the keys; `hidden` is F.
  void fields(core::Fields& field, Index hidden);
};

/// The unit with the largest of logits + temperature * Gumbel noise in each block, which is unit k
/// with probability softmax(logits / temperature)[k]; without noise at temperature 0.
/// logits: [rows, F] -> [rows, F / block]
autograd::LiveUnits choose_units(const Tensor& logits, Index block, double temperature,
                                 const core::Rng& stream);

/// relu((x W1) gate) W2 + b2, where a controller of low rank, x C1 C2 + b, opens one unit in each
/// block of N and closes the others. A training step weighs the units by the controller's softmax,
/// or chooses them by its noisy maximum with the softmax's gradient straight through; one coin
/// decides for a whole call. Evaluation chooses the maximum. Choice and coin are decisions: a
/// replay reads them back.
///
/// Training costs what a dense feed-forward costs and the controller on top. One token reads
/// W r + r F + 2 W F / N weights at most: those of the live units, and of live units that the relu
/// closes only the first half.
class SparseFeedForward final : public FeedForward {
 public:
  SparseFeedForward(Index width, Index hidden, const SparseFeedForwardSettings& settings,
                    Index chunk = 0);

  Var forward(const Pass& pass, const Var& x, const Sequences&) const override;
  Tensor step(const Tensor& x) const override;

  Index weights() const override;
  void visit(Inventory& inventory) override;

 private:
  /// One token.  x: [1, W] -> [1, W]
  Tensor step_row(const Tensor& x) const;
  Var logits(const Var& x) const;
  Var run(const Pass& pass, const Var& x, bool hard) const;

  SparseFeedForwardSettings settings_;
  Index width_, hidden_, chunk_;
  Parameter in_, down_;  ///< W1: [F, W], C1: [r, W]
  Linear up_, out_;      ///< C2: [F, r], W2: [W, F]
  UnitStrips strips_;
};

}  // namespace weft::layers
