#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "layers/attention/contract/decay_sums.h"
#include "layers/attention/contract/entmax.h"
#include "layers/attention/contract/heads.h"
#include "layers/attention/contract/relative.h"
#include "layers/attention/pattern/plan.h"
#include "layers/attention/pattern/soft_edge.h"

namespace weft::layers {

/// A table with a row for each label: [labels, D] for all heads, or [labels, H D].
struct RelativeTable {
  const Real* data = nullptr;
  Index stride = 0, head_step = 0;
};

/// Relative positions as the kernel reads them; see RelativePositions.
struct RelativeTerms {
  ConstHeads queries{nullptr, 0};
  RelativeTable keys, values;
  const Real* bias = nullptr;  ///< [H, labels]
  Index labels = 0;
  Index past = 0;
  std::vector<std::int32_t> label_of;  ///< by offset; empty where plans label intervals

  bool by_interval() const { return label_of.empty(); }

  /// Offsets past the ends, which only unread pairs have, take the label of the end.
  std::int32_t label(Index offset) const {
    return label_of[std::size_t(std::clamp<Index>(offset + past, 0, Index(label_of.size()) - 1))];
  }
};

/// Terms as the kernel reads them; `terms` must outlive them.
RelativeTerms relative_terms(const RelativePositions::Terms& terms, ConstHeads queries, Index heads,
                             Index head_width);

/// One attention call over patterns. A plan made for fewer queries than there are leaves the rest,
/// which is padding, with 0.
struct PatternProblem {
  Sequences sequences;
  Index heads, head_width;
  Real scale;
  /// One for each head, a single one for all, or one for each head of each sequence.
  std::vector<std::shared_ptr<const PatternPlan>> plans;
  /// Null for none. Under softmax plans may hold the labels of intervals.
  std::shared_ptr<const RelativeTerms> relative = nullptr;
  /// One for each head, or none for softmax.
  std::vector<Entmax> entmax = {};
  /// The alphas of entmax learn.
  bool learns_alpha = false;
  /// Null where every key that is read counts wholly. Panels must hold consecutive keys.
  std::shared_ptr<const SoftEdge> edge = nullptr;
  /// Heads of keys and values, which neighbouring heads share; 0 where each head has its own.
  Index kv_heads = 0;
  /// Softmax: a logit for each head that takes weight and has no value, [H]; null for none.
  const Real* sinks = nullptr;
  /// The decay of scores between key and query; null for nothing. Causal, as many keys as queries,
  /// and panels must hold consecutive keys.
  std::shared_ptr<const DecaySums> decay = nullptr;
  /// Of the products of queries, keys, values and weights; those with relative tables and those of
  /// entmax, whose thresholds cut sharply, stay in float32.
  core::Precision precision = core::Precision::float32;

  Index key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  /// How many heads share a head of keys and values.
  Index sharing() const { return heads / key_heads(); }
  core::Precision product_precision() const {
    return entmax.empty() ? precision : core::Precision::float32;
  }
  /// How many keys come before the first query's own: a causal query i has the
  /// position of key i + shift.
  Index shift() const { return sequences.causal ? sequences.keys - sequences.queries : 0; }
  /// Of head `lane % heads` of sequence `lane / heads`.
  const PatternPlan& plan(Index lane) const { return *plans[std::size_t(lane) % plans.size()]; }
};

/// What the forward sweep writes in addition to its output, for the backward one.
struct PatternTrace {
  /// [B, H, n]: under softmax the logarithm of each row's sum of exp(score), -infinity for a query
  /// without keys; under entmax its threshold, infinity for such a query.
  Real* levels;
  /// Under entmax [B n, H, D]: the values weighted by each row's shares of slopes.
  Heads slope_mean{nullptr, 0};
  /// Where alphas learn [B n, H, D]: the derivative of the output with respect to alpha.
  Heads alpha_slope{nullptr, 0};
};

/// Attention over the pattern's pairs, by tiles: no array of queries x keys exists, and panels
/// that no row reads are never touched. A query without keys gives 0.
/// q: [B n, H, D], k, v: [B m, G, D] -> out: [B n, H, D]
void pattern_forward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, const PatternTrace& trace);

/// Pairs that a matrix product computes in the time of a single pair: a row of a panel with fewer
/// weights above 0 than its columns by this takes its values one by one.
inline constexpr Index sparse_gain = 8;

/// The same under entmax: the scores of rows that belong together are kept until their thresholds
/// are known, then only weights above 0 meet their values.
void sparse_pattern_forward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                            Heads out, const PatternTrace& trace);

/// What the backward sweep reads. `mean` is what a row's score gradients are relative to: the
/// output under softmax, `slope_mean` under entmax.
struct PatternSaved {
  ConstHeads q, k, v, mean, dout;
  const Real* levels;
};

/// What it writes. The gradients of relative terms, if any: `place` as `q` or apart, tables zeroed
/// or not, in the shape of the tables; and of the soft edge's reach, in its shape.
struct PatternGradients {
  Heads q, k, v;
  Heads place{nullptr, 0};
  Real *keys = nullptr, *values = nullptr, *bias = nullptr;
  Real* reach = nullptr;
  Real* sinks = nullptr;  ///< [H]
  Real* decay = nullptr;  ///< [B n, H]
};

/// The gradients, with weights made again tile by tile: P = exp(S - level) or entmax, dV = P^T dO,
/// dS = P (dO V^T - dO . mean), with slopes for P under entmax, dQ = scale dS K, dK = scale dS^T Q.
/// Heads that share keys add their gradients up in the order of heads. A sink gets
/// -sum exp(sink - level) (dO . O) over its head's rows; decays get sums of dS, see DecaySums.
void pattern_backward(const PatternProblem& problem, const PatternSaved& saved,
                      const PatternGradients& gradients);

/// The operations of both, counted without doing it.
Cost pattern_cost(const PatternProblem& problem);

}  // namespace weft::layers
