#pragma once

#include "layers/attention/head_gradients.h"

namespace weft::layers {

/// The sizes of one dense attention call.
struct DenseProblem {
  Sequences sequences;
  Index heads, head_width;
  Real scale;
};

/// Softmax attention by tiles with a running maximum and sum: no T x T array exists, and tiles
/// above the diagonal are never touched.
/// q: [B n, H, D], k, v: [B m, H, D] -> out: [B n, H, D], and log_sums: [B, H, n], the logarithm of
/// each row's sum of exp(score); a query without keys gives 0 and -infinity.
void dense_forward(const DenseProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v, Heads out,
                   Real* log_sums);

/// The gradients of q, k and v from that of out, with probabilities made again tile by tile:
/// P = exp(S - log_sum), dV = P^T dO, dS = P (dO V^T - dO . O), dQ = dS K, dK = dS^T Q.
void dense_backward(const DenseProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                    ConstHeads out, const Real* log_sums, ConstHeads dout, Heads dq, Heads dk,
                    Heads dv);

/// What the two do, counted without doing it.
Cost dense_cost(const DenseProblem& problem);

}  // namespace weft::layers
