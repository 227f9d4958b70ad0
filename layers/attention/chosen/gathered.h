#pragma once

#include <functional>
#include <vector>

#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// Attention in which every query names the rows of keys that it reads, the same for all heads.
struct GatheredProblem {
  Sequences sequences;  ///< `keys`: rows of keys and values of a sequence
  Index heads, key_heads, head_width;
  Real scale;
  /// Appends the rows that a query of sequence b reads; none for padding.
  std::function<void(Index b, Index query, std::vector<std::int32_t>& rows)> read;
  Index most = 0;  ///< rows that a query reads at most

  Index group() const { return heads / key_heads; }
};

struct Gathered {
  Var out;          ///< [B n, H D]
  Tensor log_sums;  ///< [B, H, n], the logarithm of each softmax's sum; -infinity without keys
};

/// A softmax for each query and head over its rows, gathered into a panel that the heads of a group
/// share; every query by itself, so that no other query changes its bits. Sinks take weight and
/// have no value.  q: [B n, H D], k, v: [B m, G D], sinks: [H] or empty
Gathered gathered_attention(const GatheredProblem& problem, const std::vector<HeadBlock>& blocks,
                            const Var& sinks = {});

/// The cost of a call that reads `pairs` (query, row) pairs.
Cost gathered_cost(const GatheredProblem& problem, Index pairs);

/// Copies rows of keys or values of one head into a panel.  x: [B m, G, D] -> panel: [rows, D]
void gather_rows(ConstHeads x, Index first_row, Index column, std::span<const std::int32_t> rows,
                 Index width, Real* panel);

}  // namespace weft::layers
