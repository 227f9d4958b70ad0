#pragma once

#include "autograd/inventory.h"
#include "layers/attention/chosen/entries.h"

namespace weft::layers {

/// Entries that are learned linear maps of their tokens, for each head of keys and of values by
/// itself:  entry = W [x_0 + p_0, x_1 + p_1, ...]  with x_a the token at place a of the stretch.
/// Every number is one dot product, so that decoding makes the same bits.
class LinearPool {
 public:
  LinearPool(const EntryLayout& layout, Index heads, Index head_width);

  /// k, v: [B T, G D] -> keys and values of entries side by side, [B E, 2 G D]
  Var pool(const HeadBlock& k, const HeadBlock& v, Index batch) const;
  /// One entry of keys (side 0) or values (side 1).  rows: [block, G D] -> entry: [G D]
  void pool_entry(Index side, const Real* rows, Index step, Real* entry) const;

  Cost cost(Index entries) const;
  void visit(autograd::Inventory& inventory);

 private:
  Index stretch() const { return layout_.block * width_; }
  /// Of one head of one side: [D, block D] of the weights, [block D] of the places.
  Index head(Index side, Index g) const { return side * heads_ + g; }
  /// One head of a stretch with its places.  -> [block D]
  void unfold(Index side, Index g, const Real* rows, Index step, Real* to) const;
  /// One head of one side, all sequences: gradients of its tokens, weights and places.
  /// x and dx: [B T, G D], dy: [B E, 2 G D]
  void pull_back(Index side, Index g, ConstHeads x, const Real* dy, Index batch, Index length,
                 Heads dx) const;

  EntryLayout layout_;
  Index heads_, width_;
  autograd::Parameter weight_, places_;  ///< [2 G D, block D], [2 G, block D]
};

}  // namespace weft::layers
