#pragma once

#include <vector>

#include "layers/parts/linear.h"

namespace weft::layers {

/// Rotary positions: in each head, the pair of columns (t, t + D / 2) turns by the angle
/// position * base^(-2t / D), so that q . k depends on the distance of their positions only.
class Rotary {
 public:
  Rotary(Index head_width, Index length, double base = 10000);

  /// Turns the heads standing at the given first columns, tokens of each sequence being at
  /// positions first .. first + T - 1.  x: [B * T, C] -> [B * T, C]
  /// The gradient turns back.  Saves: nothing.
  Var turn(const Var& x, const std::vector<Index>& first_columns, Index heads, Index length,
           Index first = 0) const;

  /// One token's heads in place.  row: [H D]
  void turn_row(std::span<Real> row, Index position) const;

 private:
  /// cos and sin of every angle up to `length`: [length, D / 2] each.
  void extend(Index length) const;
  void rotate(Real* head, Index position, Real direction) const;

  Index half_;
  double base_;
  mutable std::vector<Real> cosines_, sines_;
};

}  // namespace weft::layers
