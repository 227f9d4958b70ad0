#pragma once

#include "core/precision.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// What a dense feed-forward does to its hidden units: gelu(z) = z Phi(z); its approximation by a
/// tanh, with which GPT-2 was trained; or max(z, 0).
enum class Activation { gelu, gelu_tanh, relu };

/// "gelu", "gelu_tanh" or "relu"
const char* activation_name(Activation activation);

/// x: [..., n] -> [..., n] with y = z / 2 (1 + tanh(u)), z = x + bias,
/// u = sqrt(2 / pi) (z + 0.044715 z^3).  bias: [n]
/// `kept`: in what the gradient is computed from x.
Var bias_gelu_tanh(const Var& x, const Parameter& bias,
                   core::Precision kept = core::Precision::float32);

/// The hidden units of a feed-forward. Where products are in bf16, so is what only the sweep reads
/// of them.  x: [..., W] -> [..., F]
Var hidden_units(Activation activation, const Linear& in, const Var& x);

}  // namespace weft::layers
