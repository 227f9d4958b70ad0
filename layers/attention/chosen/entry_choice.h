#pragma once

#include "layers/attention/chosen/block_choice.h"
#include "layers/attention/chosen/block_selection.h"
#include "layers/attention/chosen/packed_rows.h"

namespace weft::layers {

/// How the heads that share keys choose blocks together, by their weights over entries.
struct EntryChoice {
  BlockSelection selection;
  Index heads, key_heads, width;
  Real scale;

  Index group() const { return heads / key_heads; }

  /// The weights of one head's query over the first `closed` entries.
  void weigh(const PackedRows& keys, const Real* q, Index closed, std::vector<Real>& weights) const;
  /// sums += weights; empty sums are zeros.
  static void add(const std::vector<Real>& weights, std::vector<Real>& sums);

  /// q: [B T, H, D], entries: [B E, ...], keys in the first G D columns -> choices of B G lanes
  BlockChoice choose(const Sequences& sequences, const HeadBlock& q, const Tensor& entries) const;
  /// The cost of that, for all heads.
  Index flops(const Sequences& sequences) const;
  /// A block longer than the sequence holds all of it.
  Index block(const Sequences& s) const { return std::clamp<Index>(s.keys, 1, selection.width); }

 private:
  /// Of one head of sequence b: only where there is a choice.
  Index flops(const Sequences& sequences, Index b) const;
};

}  // namespace weft::layers
