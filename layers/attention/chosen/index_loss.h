#pragma once

#include "layers/attention/chosen/gathered.h"
#include "layers/attention/chosen/token_index.h"

namespace weft::layers {

/// How far an index is from the attention that it chooses for: weight times the mean, over the
/// queries that read anything, of sum_j p_j (ln p_j - ln s_j) over the rows that a query reads,
/// with s = softmax of the index's scores and p the mean over heads of the attention's weights, a
/// constant that sums to one.
struct IndexLoss {
  TokenIndex index;
  /// Attention's heads and scale; `read` names rows that are keys of the attention and of the
  /// index.
  GatheredProblem problem;
  HeadBlock q, k;   ///< of attention, constants
  Tensor log_sums;  ///< of its softmax, [B, H, n]
  double weight = 1;
  Index queries = 1;  ///< that read anything, all sequences together

  /// -> [1]
  Var of(const IndexRows& rows) const;
  /// The cost of that for this many pairs, heads not counted.
  Cost cost(Index pairs) const;
};

}  // namespace weft::layers
