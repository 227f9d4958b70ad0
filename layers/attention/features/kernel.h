#pragma once

#include "core/arrays/tensor.h"
#include "layers/attention/features/chunks.h"

namespace weft::layers {

/// What the backward sweeps read in addition to the projections; arrays that a form has no use for
/// are empty.
struct FeatureTrace {
  Tensor denominators;  ///< [B, H, n], weights and logarithms
  Tensor tops;          ///< [B, H, chunks + 1, P], logarithms and shares: largest key before each
  /// Where keys come before those of this call, or queries after: for each lane their sums as
  /// `key_sums` and `query_sums` give them, [B, H, numbers]; empty for none. Not of shares.
  Tensor before, after;
};

/// Attention by features, chunk by chunk: with S = sum_j k_j v_j^T and z = sum_j k_j over the
/// chunks before,
///   out_i = (q_i S + sum_j (q_i . k_j) v_j) / (q_i . z + sum_j q_i . k_j + eps),
/// the second sums over the keys of the query's own chunk. O(T) time and memory, all in products.
/// q: [B n, H, D], k, v: [B m, H, D] -> out: [B n, H, D]; a query without keys gives 0.
void feature_forward(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, FeatureTrace& trace);

/// The gradients of q, k and v from that of out. One sweep forward builds S again and gives dq,
///   dq_i = S_i g_i + z_i h_i,  g_i = dout_i / den_i,  h_i = -(dout_i . out_i) / den_i,
/// one backward builds U = sum_{i >= j} q_i g_i^T and u = sum q_i h_i and gives
///   dk_j = U_j v_j + u_j,  dv_j = U_j^T k_j.
/// No sum is ever taken back by subtraction. `out` is not read for shares.
void feature_backward(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                      ConstHeads out, const FeatureTrace& trace, ConstHeads dout, Heads dq,
                      Heads dk, Heads dv);

/// The sums that carry this call's keys to queries after it, and its queries' gradients to keys
/// before it: for each lane S and z, or U and u, with their references.  -> [B, H, numbers]
Tensor key_sums(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v);
Tensor query_sums(const FeatureProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                  ConstHeads out, const FeatureTrace& trace, ConstHeads dout);

/// The operations of both, counted without doing it. Parts of a chunk beyond its first, which only
/// keys e^40 above all earlier ones cause, are left out.
Cost feature_cost(const FeatureProblem& problem);

}  // namespace weft::layers
