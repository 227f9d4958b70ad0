#pragma once

#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// `few` heads shared by `all` heads: head h of `all` reads head h few / all of `few`.
struct SharedHeads {
  Index few, all, width;
};

/// Every head as often as it is shared, for mechanisms that read a head of keys for each head of
/// queries.  blocks of few D columns, of equally many rows -> blocks of all D columns
std::vector<HeadBlock> repeat_heads(const SharedHeads& heads, const std::vector<HeadBlock>& blocks);
/// One token of one block.  row: [few D] -> [all D]
std::vector<Real> repeat_heads(const SharedHeads& heads, std::span<const Real> row);

/// The way back: sums the heads that share one, in their order.
/// from: [tokens, all D], to: [tokens, few D]
void sum_shared_heads(const SharedHeads& heads, ConstHeads from, Index tokens, Heads to);

}  // namespace weft::layers
