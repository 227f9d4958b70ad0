#pragma once

#include "layers/attention/partition/kernel.h"

namespace weft::layers {

/// Attention along edges as an op.  blocks: q, k, v; table: [labels, D]
Var partition_attention(const PartitionProblem& problem, const std::vector<HeadBlock>& blocks,
                        const Var& table);

}  // namespace weft::layers
