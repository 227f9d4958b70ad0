#pragma once

#include "layers/attention/contract/attention.h"
#include "layers/star/star_settings.h"

namespace weft::layers {

/// The ring of a star, H heads of D columns in W.
struct RingProblem {
  Sequences sequences;  ///< T satellites each, padding outside the ring
  Index heads = 1;
  StarRing ring = StarRing::open;

  /// Of one call: pairs that enter a softmax, zeros among them; arithmetic; what is saved.
  Cost cost(Index width) const;
};

/// Every satellite reads its neighbours, itself, its own embedding and the relay, at most five
/// keys:  out_i = sum_j p_ij v_j,  p_i = softmax_j(q_i . k_j / sqrt(D)).
/// q: [B * T, W], satellites and embeddings: [B * T, 2 W], relay: [B, 2 W], keys next to values
/// -> [B * T, W], zero in padding
/// With e_ij = p_ij (dout_i . v_j - sum_l p_il dout_i . v_l) / sqrt(D): dq_i = sum_j e_ij k_j,
/// dk_j = sum_i e_ij q_i, dv_j = sum_i p_ij dout_i.  Saves: p, the inputs.
Var ring_attention(const RingProblem& problem, const Var& q, const Var& satellites,
                   const Var& embeddings, const Var& relay);

}  // namespace weft::layers
