#pragma once

#include "layers/parts/linear.h"

namespace weft::layers {

/// The weights of a feed-forward once more, ordered for reading few units: each unit's row of W1
/// and column of W2 are in one strip, so that a live unit is one run through memory. Made when
/// first asked for, and anew when the parameters have changed.
class UnitStrips {
 public:
  /// W1: [F, W], W2: [W, F]
  UnitStrips(const Parameter& in, const Parameter& out) : in_(&in), out_(&out) {}

  /// y += sum over blocks of relu(w1 . x) w2 of the block's live unit.  x: [W], y: [W]
  /// The second half of a strip is read where the relu passes only. Blocks are shared out in
  /// groups that depend on the shapes, whose sums are added in order.
  void add_live_units(const autograd::LiveUnits& live, Index block, const Real* x, Real* y) const;

 private:
  void refresh() const;

  const Parameter *in_, *out_;
  mutable Tensor strips_;  ///< [F, 2, W rounded up to 64 bytes]
  mutable std::uint64_t in_generation_ = 0, out_generation_ = 0;
};

}  // namespace weft::layers
