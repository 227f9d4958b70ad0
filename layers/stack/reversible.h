#pragma once

#include <vector>

#include "layers/stack/block.h"

namespace weft::layers {

using autograd::StreamOutput;

/// Blocks as a reversible stack: attention reads the second stream and adds to the first,
/// feed-forward reads the first and adds to the second. Both begin at x, and activations do not
/// grow with depth.  x: [B * T, W] -> [B * T, W], or [B * T, 2 W] side by side
Var run_reversible(const Pass& pass, const std::vector<Block>& blocks, const Var& x,
                   const std::vector<Sequences>& sequences, StreamOutput output);

/// One token.  x: [1, W] -> [1, W] or [1, 2 W]
Tensor step_reversible(const std::vector<Block>& blocks, std::vector<MultiHeadState>& states,
                       const Tensor& x, Index position, StreamOutput output);

}  // namespace weft::layers
