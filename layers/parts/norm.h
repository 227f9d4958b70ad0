#pragma once

#include <optional>

#include "autograd/state.h"
#include "layers/parts/linear.h"

namespace weft::layers {

enum class NormKind { layer, rms, batch };

/// Normalisation over W columns with a learned gain (from 1) and bias (from 0).
///   layer: each token by its mean and deviation
///   rms:   each token by its root mean square, without a bias
///   batch: each column by its mean and deviation over all tokens of the batch in training, and by
///          running averages of these in evaluation
/// Batch statistics run over time: in training a token sees what comes after it. They suit causal
/// models as a baseline only, and the config asks for `model.allow_leaky_norm` first.
class Norm {
 public:
  static constexpr double usual_eps = 1e-5;
  explicit Norm(Index width, NormKind kind = NormKind::layer, double eps = usual_eps);

  /// x: [N, W] -> [N, W]
  Var forward(const Pass& pass, const Var& x) const;

  void visit(Inventory& inventory);

 private:
  Var over_the_batch(const Pass& pass, const Var& x) const;

  NormKind kind_;
  Real eps_;
  Parameter gain_;
  std::optional<Parameter> bias_;
  /// Mean and variance of each column: [2, W]
  mutable std::optional<autograd::State> running_;
};

}  // namespace weft::layers
