#pragma once

#include <memory>

#include "core/arrays/gemm.h"
#include "layers/parts/experts/expert_choice.h"
#include "layers/parts/linear.h"

namespace weft::layers {

using SharedChoice = std::shared_ptr<const ExpertChoice>;

/// The gate of each choice; 0 in padding.  probabilities: [N, E] -> [N, choices]
Var expert_gates(const Var& probabilities, const SharedChoice& choice, const GateRule& rule);

/// price * E * sum over experts of (share of rows whose first choice it was) * (mean probability),
/// over real rows; 1 * price where all experts are used alike.  probabilities: [N, E] -> [1]
Var expert_balance(const Var& probabilities, const SharedChoice& choice, double price);

/// The weights of E feed-forwards, one after the other.
struct ExpertWeights {
  const Parameter& in;        ///< [E, F, W]
  const Parameter& in_bias;   ///< [E F]
  const Parameter& out;       ///< [E, W, F]
  const Parameter& out_bias;  ///< [E W]

  Index experts() const { return in.shape()[0]; }
  Index hidden() const { return in.shape()[1]; }
  Index width() const { return in.shape()[2]; }
  core::ConstMatrix in_of(Index expert) const;
  core::ConstMatrix out_of(Index expert) const;
  const Real* in_bias_of(Index expert) const { return in_bias.data() + expert * hidden(); }
  const Real* out_bias_of(Index expert) const { return out_bias.data() + expert * width(); }
};

/// Each row through the experts that took it, times their gates: the sum over its choices of
/// gate (gelu(x W1 + b1) W2 + b2). A row that nobody took becomes 0.
/// x: [N, W], gates: [N, choices] -> [N, W]
Var expert_products(const Var& x, const Var& gates, const SharedChoice& choice,
                    const ExpertWeights& weights);

}  // namespace weft::layers
