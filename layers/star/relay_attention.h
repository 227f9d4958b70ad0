#pragma once

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// The relay of each sequence reads itself and all of its satellites:
///   out = sum_j p_j v_j,  p = softmax_j(q . k_j / sqrt(D)),  j = the relay, satellites 0 .. n - 1.
/// q: [B, W], relay: [B, 2 W], satellites: [B * T, 2 W], keys next to values -> [B, W]
/// With e_j = p_j (dout . v_j - dout . out) / sqrt(D): dq = sum_j e_j k_j, dk_j = e_j q,
/// dv_j = p_j dout; zero in padding.  Saves: p, the inputs.
Var relay_attention(const Sequences& sequences, Index heads, const Var& q, const Var& relay,
                    const Var& satellites);

/// Of one call.
Cost relay_cost(const Sequences& sequences, Index heads, Index width);

}  // namespace weft::layers
