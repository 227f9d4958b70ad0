#include <algorithm>
#include <cmath>
#include <limits>

#include "core/arrays/factor.h"
#include "core/arrays/scratch.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/lists/rows.h"

namespace weft::layers {
namespace {

/// Softmax attention of every slot of one list, block by block.
class ListForward {
 public:
  ListForward(const ListedProblem& problem, const TokenList& list, const core::ConstMatrix& q,
              const core::ConstMatrix& k, const core::ConstMatrix& v)
      : problem_(problem),
        list_(list),
        filter_(list),
        query_factor_(problem.precision),
        key_factor_(problem.precision),
        value_factor_(problem.precision),
        weight_factor_(problem.precision) {
    constexpr Index most_rows = ListRule::most_rows;
    const Index width = problem.head_width, most_keys = problem.most_keys;
    const Index rows =
        std::max(problem.log_sums_per_lane(), Index(list.queries.size())) + most_rows;
    const Index columns = std::max(problem.sequences.keys, Index(list.keys.size())) + 2 * most_keys;
    scratch_ =
        core::Scratch((rows + 2 * columns + most_rows) * width + most_rows * (most_keys + 2));
    q_ = scratch_.take(rows * width);
    k_ = scratch_.take(columns * width);
    v_ = scratch_.take(columns * width);
    out_ = scratch_.take(most_rows * width);
    scores_ = scratch_.take(most_rows * most_keys);
    tops_ = scratch_.take(most_rows);
    totals_ = scratch_.take(most_rows);
    gather(q, list.queries, q_, rows);
    gather(k, list.keys, k_, columns);
    gather(v, list.keys, v_, columns);
    queries_ = query_factor_.of({q_, rows, width, width});
    keys_ = key_factor_.of({k_, columns, width, width});
    values_ = value_factor_.of({v_, columns, width, width});
  }

  /// Calls sink(slot, sum of weights times values, sum of weights, log of their scale).
  template <class Sink>
  void run(const Sink& sink) {
    Index pairs = 0;
    for (const auto& block : list_.blocks) {
      pairs += attend(block);
      for (Index r = 0; r < block.queries; ++r)
        sink(block.query + r, out_ + r * problem_.head_width, totals_[r], tops_[r]);
    }
    core::counters().scored_pairs.fetch_add(pairs, std::memory_order_relaxed);
  }

 private:
  Index attend(const TokenList::Block& block) {
    const Index width = problem_.head_width;
    const core::Operand q = core::row_panel(queries_, block.query, block.rows);
    const core::Operand k = core::row_panel(keys_, block.key, block.keys);
    const core::Operand v = core::row_panel(values_, block.key, block.keys);
    const core::Matrix scores{scores_, block.rows, block.keys, block.keys};
    if (block.keys > 0) core::gemm(problem_.scale, q, core::transposed(k), 0, scores);
    Index pairs = 0;
    for (Index r = 0; r < block.queries; ++r) {
      Real* row = scores_ + r * block.keys;
      const RowFilter::Range range = filter_.admit(block, block.query + r, row);
      pairs += range.count;
      weigh(row, block.keys, range, r);
    }
    std::fill(scores_ + block.queries * block.keys, scores_ + block.rows * block.keys, Real(0));
    if (block.keys > 0)
      core::gemm(1, weight_factor_.of(scores), v, 0, {out_, block.rows, width, width});
    return pairs;
  }

  /// Turns the scores that a row reads into weights and the rest into zeros.
  void weigh(Real* row, Index keys, const RowFilter::Range& range, Index r) {
    totals_[r] = 0;
    tops_[r] = minus_infinity;
    if (range.count == 0) {
      std::fill_n(row, keys, Real(0));
      return;
    }
    const Index n = range.last - range.first;
    tops_[r] = core::simd().max(row + range.first, n);
    totals_[r] = core::simd().exp_sum(row + range.first, 1, tops_[r], n);
    std::fill(row, row + range.first, Real(0));
    std::fill(row + range.last, row + keys, Real(0));
  }

  const ListedProblem& problem_;
  const TokenList& list_;
  RowFilter filter_;
  core::Scratch scratch_;
  core::Factor query_factor_, key_factor_, value_factor_, weight_factor_;
  core::Operand queries_{core::ConstMatrix{}}, keys_ = queries_, values_ = queries_;
  Real *q_, *k_, *v_, *out_, *scores_, *tops_, *totals_;
};

/// row = factor * from
void put_scaled(const Real* from, Real factor, Real* row, Index width) {
  for (Index d = 0; d < width; ++d) row[d] = factor * from[d];
}

/// The rounds of some tokens merged into one softmax.
/// partial: [rounds, n, D], log_sums: [rounds, n] of one lane.
class RoundMerge {
 public:
  RoundMerge(const ListedProblem& problem, const Real* partial, const Real* log_sums)
      : problem_(problem), partial_(partial), log_sums_(log_sums) {}

  /// Writes the token's output and returns the logarithm of its sum.
  Real merge(Index token, Real* out) const {
    const Index n = problem_.sequences.queries, width = problem_.head_width;
    Real top = minus_infinity, total = 0;
    for (Index r = 0; r < problem_.rounds; ++r) top = std::max(top, log_sums_[r * n + token]);
    std::fill_n(out, width, Real(0));
    if (top == minus_infinity) return top;
    for (Index r = 0; r < problem_.rounds; ++r) {
      const Real weight = std::exp(log_sums_[r * n + token] - top);
      total += weight;
      if (weight > 0) core::simd().axpy(weight, partial_ + (r * n + token) * width, out, width);
    }
    core::simd().scale(1 / total, out, width);
    return top + std::log(total);
  }

 private:
  const ListedProblem& problem_;
  const Real *partial_, *log_sums_;
};

void forward_softmax(const ListedProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, Real* log_sums) {
  const Index n = problem.sequences.queries, rounds = problem.rounds;
  const Index width = problem.head_width, lanes = problem.lanes();
  Tensor partial({lanes, rounds, n, width}), sums({lanes, rounds, n}, minus_infinity);
  Real *outs = partial.write().data(), *logs = sums.write().data();
  core::parallel_for(lanes * rounds, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / rounds);
    const TokenList list = problem.list(lane.index, task % rounds);
    Real *own_outs = outs + task * n * width, *own_logs = logs + task * n;
    ListForward(problem, list, lane.queries(q), lane.keys(k), lane.keys(v))
        .run([&](Index slot, const Real* row, Real total, Real top) {
          if (total <= 0) return;
          const Index token = list.queries[std::size_t(slot)];
          put_scaled(row, 1 / total, own_outs + token * width, width);
          own_logs[token] = top + std::log(total);
        });
  });
  const Index pieces = (n + tokens_per_piece - 1) / tokens_per_piece;
  core::parallel_for(lanes * pieces, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / pieces);
    const Index first = task % pieces * tokens_per_piece, before = lane.index * rounds * n;
    const RoundMerge merge(problem, outs + before * width, logs + before);
    const core::Matrix to = lane.queries(out);
    const core::ConstMatrix values = lane.keys(v);
    const Index real = problem.self_as_fallback ? std::min(n, lane.real_keys) : 0;
    Index fallbacks = 0;
    for (Index t = first; t < std::min(n, first + tokens_per_piece); ++t) {
      const Real log_sum = merge.merge(t, to.row(t));
      log_sums[lane.index * n + t] = log_sum;
      if (log_sum != minus_infinity || t >= real) continue;
      std::copy_n(values.row(t), width, to.row(t));
      ++fallbacks;
    }
    core::counters().scored_pairs.fetch_add(fallbacks, std::memory_order_relaxed);
  });
}

/// One softmax over rounds that come in turn: what those so far gave each token.
class RunningSoftmax {
 public:
  RunningSoftmax(const core::Matrix& out, Index tokens)
      : out_(out), tops_(std::size_t(tokens), minus_infinity), totals_(std::size_t(tokens), 0) {
    fill_zero(out);
  }

  /// Adds a round: its sum of weights times values and of weights, relative to exp(top).
  void add(Index token, const Real* row, Real total, Real top) {
    if (total <= 0) return;
    Real &highest = tops_[std::size_t(token)], &sum = totals_[std::size_t(token)];
    if (top > highest) {
      const Real kept = std::exp(highest - top);
      core::simd().scale(kept, out_.row(token), out_.cols);
      sum *= kept;
      highest = top;
    }
    const Real weight = std::exp(top - highest);
    core::simd().axpy(weight, row, out_.row(token), out_.cols);
    sum += weight * total;
  }
  /// log_sums: one for each token
  void finish(Real* log_sums) {
    for (std::size_t t = 0; t < totals_.size(); ++t) {
      log_sums[t] = minus_infinity;
      if (totals_[t] <= 0) continue;
      core::simd().scale(1 / totals_[t], out_.row(Index(t)), out_.cols);
      log_sums[t] = tops_[t] + std::log(totals_[t]);
    }
  }

 private:
  core::Matrix out_;
  std::vector<Real> tops_, totals_;
};

void forward_in_turn(const ListedProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, Real* log_sums) {
  const Index n = problem.sequences.queries;
  core::parallel_for(problem.lanes(), 1, [&](Index index, Index) {
    const HeadLane lane = problem.lane(index);
    RunningSoftmax rounds(lane.queries(out), n);
    for (Index round = 0; round < problem.rounds; ++round) {
      const TokenList list = problem.list(index, round);
      ListForward(problem, list, lane.queries(q), lane.keys(k), lane.keys(v))
          .run([&](Index slot, const Real* row, Real total, Real top) {
            rounds.add(list.queries[std::size_t(slot)], row, total, top);
          });
    }
    rounds.finish(log_sums + index * n);
  });
}

void forward_mean(const ListedProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v, Heads out,
                  Real* log_sums) {
  const Index n = problem.sequences.queries, width = problem.head_width;
  core::parallel_for(problem.lanes(), 1, [&](Index index, Index) {
    const HeadLane lane = problem.lane(index);
    const TokenList list = problem.list(index, 0);
    const auto counts = slots_per_token(list, n);
    const core::Matrix to = lane.queries(out);
    const core::ConstMatrix values = lane.keys(v);
    fill_zero(to);
    Index fallbacks = 0;
    ListForward(problem, list, lane.queries(q), lane.keys(k), values)
        .run([&](Index slot, const Real* row, Real total, Real top) {
          const Index token = list.queries[std::size_t(slot)];
          const Real share = 1 / (Real(counts[std::size_t(token)]) + problem.count_eps);
          log_sums[index * problem.slots + slot] =
              total > 0 ? top + std::log(total) : minus_infinity;
          if (total > 0) {
            core::simd().axpy(share / total, row, to.row(token), width);
          } else if (problem.self_as_fallback) {
            core::simd().axpy(share, values.row(token), to.row(token), width);
            ++fallbacks;
          }
        });
    core::counters().scored_pairs.fetch_add(fallbacks, std::memory_order_relaxed);
  });
}

}  // namespace

void listed_forward(const ListedProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                    Heads out, Real* log_sums) {
  if (problem.merge == ListedProblem::Merge::mean)
    forward_mean(problem, q, k, v, out, log_sums);
  else if (problem.rounds_in_turn)
    forward_in_turn(problem, q, k, v, out, log_sums);
  else
    forward_softmax(problem, q, k, v, out, log_sums);
}

}  // namespace weft::layers
