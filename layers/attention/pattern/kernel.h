#pragma once

#include <memory>
#include <vector>

#include "layers/attention/head_gradients.h"
#include "layers/attention/pattern/plan.h"

namespace weft::layers {

/// One attention call over patterns.
struct PatternProblem {
  Sequences sequences;
  Index heads, head_width;
  Real scale;
  /// One for each head, or a single one for all.
  std::vector<std::shared_ptr<const PatternPlan>> plans;

  const PatternPlan& plan(Index head) const {
    return *plans[plans.size() == 1 ? 0 : std::size_t(head)];
  }
};

/// Softmax attention over the pattern's pairs, by tiles with a running maximum and sum: no array
/// of queries x keys exists, and panels that no row reads are never touched.
/// q: [B n, H, D], k, v: [B m, H, D] -> out: [B n, H, D], and log_sums: [B, H, n], the logarithm of
/// each row's sum of exp(score); a query without keys gives 0 and -infinity.
void pattern_forward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, Real* log_sums);

/// The gradients of q, k and v from that of out, with probabilities made again tile by tile:
/// P = exp(S - log_sum), dV = P^T dO, dS = P (dO V^T - dO . O), dQ = dS K, dK = dS^T Q.
void pattern_backward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                      ConstHeads out, const Real* log_sums, ConstHeads dout, Heads dq, Heads dk,
                      Heads dv);

/// What the two do, counted without doing it.
Cost pattern_cost(const PatternProblem& problem);

}  // namespace weft::layers
