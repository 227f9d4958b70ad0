#pragma once

#include <vector>

#include "layers/attention/contract/attention.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// The rows of a group's keys and values that a chunk reads of the chunks on its left.
class LeftKeys {
 public:
  /// `chunk`: of the sequences that the blocks belong to, `batch` of them.
  LeftKeys(const ChunkPlace& chunk, LeftReach reach, Index batch)
      : chunk_(chunk), reach_(reach), batch_(batch) {}

  /// How many rows of each sequence come before those of the chunk.
  Index rows() const { return chunk_.first() - reach_.begin(chunk_.first()); }
  /// Blocks of `widths` columns, each sequence's rows after those from the left, in the order of
  /// positions. The gradients of what other chunks read of these rows are added to their own, in
  /// the order of chunks.
  std::vector<HeadBlock> before(const Pass& pass, const std::vector<HeadBlock>& now,
                                const std::vector<Index>& widths) const;

 private:
  core::Tensor join(const std::vector<HeadBlock>& now, const std::vector<Index>& widths) const;
  core::Tensor trade_values(const core::Tensor& own) const;
  core::Tensor trade_gradients(const core::Tensor& dy) const;
  /// Some tokens of every sequence.  x: [B * T, W] -> [B * count, W]
  core::Tensor tokens_of(const core::Tensor& x, Index first, Index count) const;

  ChunkPlace chunk_;
  LeftReach reach_;
  Index batch_;
};

/// What one chunk sends another of all that a group moves: keys and values to the right, their
/// gradients to the left.
core::Traffic traffic_of_keys(const core::ChunkCut& cut, LeftReach reach, Index numbers, Index from,
                              Index to);

}  // namespace weft::layers
