#pragma once

#include <vector>

#include "core/real.h"

namespace weft::layers {

using core::Index;
using core::Real;

/// alpha-entmax of rows of scores z, alpha > 1: p = max(0, (alpha - 1) z - tau)^(1 / (alpha - 1)),
/// with the threshold tau at which a row sums to one. Alpha 2 is sparsemax, and alpha near 1 is
/// near softmax. With the slopes s = p^(2 - alpha) where p > 0, else 0, and their shares
/// r = s / sum(s), the derivatives are
///   dp/dz = diag(s) - s r^T,
///   dp/dalpha = (p - r) / (alpha - 1)^2 + (h - r sum(h)) / (alpha - 1),  h = -p ln p.
class Entmax {
 public:
  explicit Entmax(double alpha);

  double alpha() const { return alpha_; }

  /// The threshold of n scores; infinity when none is above -infinity. `candidates` is scratch.
  Real threshold(const Real* scores, Index n, std::vector<double>& candidates) const;
  /// Scores become weights, in place.
  void weigh(Real* row, Index n, Real threshold) const;
  /// The slope at a weight above 0.
  Real slope(Real weight) const;
  /// dweights become dscores, in place: s (dweights - delta), with delta = r . dweights.
  void pull_back(const Real* weights, Real* gradients, Real delta, Index n) const;

 private:
  double alpha_, exponent_;
};

}  // namespace weft::layers
