#pragma once

#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// Stretches of tokens, which may overlap, that entries summarise: entry c for the tokens
/// c stride .. c stride + block - 1, once all of them are there.
struct EntryLayout {
  Index block = 1, stride = 1;

  /// Entries of the first n tokens, including those that the last of them closes.
  Index count(Index tokens) const { return tokens < block ? 0 : (tokens - block) / stride + 1; }
};

/// The mean of consecutive rows.  rows: [count, width], `step` numbers apart -> mean: [width]
void mean_of_rows(const Real* rows, Index step, Index count, Index width, Real* mean);

/// Entries that are the means of their tokens, of several blocks side by side.
/// blocks: each [B T, columns] -> [B E, blocks columns]
Var pool_means(const EntryLayout& layout, const std::vector<HeadBlock>& blocks, Index batch,
               Index columns);

}  // namespace weft::layers
