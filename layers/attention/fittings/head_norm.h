#pragma once

#include "autograd/parameter.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// Every head of a block divided by its root mean square: y = x / sqrt(mean x² + eps) gain.
/// x: a block of `heads` heads, gain: [D] -> [N, heads D]
Var norm_heads(const HeadBlock& x, Index heads, const autograd::Parameter& gain, Real eps);

}  // namespace weft::layers
