#include "layers/attention/dense_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/counters.h"
#include "core/gemm.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

constexpr Index query_tile = 128, key_tile = 256;
constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

/// One head of one sequence.
struct Lane {
  const DenseProblem& problem;
  Index batch, head, real_keys;

  Lane(const DenseProblem& p, Index index)
      : problem(p), batch(index / p.heads), head(index % p.heads) {
    const Sequences& s = p.sequences;
    real_keys = s.key_lengths ? (*s.key_lengths)[std::size_t(batch)] : s.keys;
  }

  /// Query i reads keys [0, reach(i)).
  Index reach(Index i) const {
    const Sequences& s = problem.sequences;
    return s.causal ? std::clamp<Index>(i + s.keys - s.queries + 1, 0, real_keys) : real_keys;
  }

  core::ConstMatrix queries(ConstHeads x, Index first, Index count) const {
    return {
        x.data + (batch * problem.sequences.queries + first) * x.stride + head * problem.head_width,
        count, problem.head_width, x.stride};
  }
  core::ConstMatrix keys(ConstHeads x, Index first, Index count) const {
    return {
        x.data + (batch * problem.sequences.keys + first) * x.stride + head * problem.head_width,
        count, problem.head_width, x.stride};
  }
  core::Matrix queries(Heads x, Index first, Index count) const {
    const auto m = queries(ConstHeads{x.data, x.stride}, first, count);
    return {const_cast<Real*>(m.data), m.rows, m.cols, m.stride};
  }
  core::Matrix keys(Heads x, Index first, Index count) const {
    const auto m = keys(ConstHeads{x.data, x.stride}, first, count);
    return {const_cast<Real*>(m.data), m.rows, m.cols, m.stride};
  }
};

void zero(const core::Matrix& m) {
  for (Index r = 0; r < m.rows; ++r) std::fill_n(m.data + r * m.stride, m.cols, Real(0));
}

/// Calls body(first_query, queries, first_key, keys) for the tiles of a block of queries, trimmed
/// to the keys that its last query reads.
template <class Body>
void for_each_tile(const Lane& lane, Index first, Index count, const Body& body) {
  const Index reach = lane.reach(first + count - 1);
  for (Index j = 0; j < reach; j += key_tile) body(j, std::min(key_tile, reach - j));
}

Index pairs_of(const Lane& lane, Index first, Index count) {
  Index pairs = 0;
  for (Index i = first; i < first + count; ++i) pairs += lane.reach(i);
  return pairs;
}

/// The running softmax of one block of queries.
class ForwardBlock {
 public:
  ForwardBlock(const Lane& lane, Index first, Index count, const core::Matrix& out)
      : lane_(lane), first_(first), count_(count), out_(out), scratch_({query_tile, key_tile + 2}) {
    scores_ = scratch_.write().data();
    top_ = scores_ + query_tile * key_tile;
    total_ = top_ + query_tile;
    std::fill_n(top_, count, minus_infinity);
    std::fill_n(total_, count, Real(0));
    zero(out);
  }

  void add(const core::ConstMatrix& q, const core::ConstMatrix& k, const core::ConstMatrix& v,
           Index first_key) {
    const core::Matrix s{scores_, count_, k.rows, k.rows};
    core::gemm(lane_.problem.scale, q, core::transposed(k), 0, s);
    for (Index r = 0; r < count_; ++r)
      absorb_row(r, scores_ + r * k.rows, k.rows, lane_.reach(first_ + r) - first_key);
    core::gemm(1, s, v, 1, out_);
  }

  void finish(Real* log_sums) {
    for (Index r = 0; r < count_; ++r) {
      const Real total = total_[r];
      log_sums[r] = total > 0 ? top_[r] + std::log(total) : minus_infinity;
      if (total > 0) core::simd().scale(1 / total, out_.data + r * out_.stride, out_.cols);
    }
  }

 private:
  /// Turns the row's first `readable` scores into weights against the running maximum, rescales
  /// what the row has gathered so far, and zeroes the rest.
  void absorb_row(Index r, Real* row, Index width, Index readable) {
    readable = std::clamp<Index>(readable, 0, width);
    std::fill(row + readable, row + width, Real(0));
    if (readable == 0) return;
    const Real top = std::max(top_[r], core::simd().max(row, readable));
    const Real sum = core::simd().exp_sum(row, 1, top, readable);
    if (top > top_[r] && total_[r] > 0) {
      const Real shrink = std::exp(top_[r] - top);
      total_[r] *= shrink;
      core::simd().scale(shrink, out_.data + r * out_.stride, out_.cols);
    }
    top_[r] = top;
    total_[r] += sum;
  }

  const Lane& lane_;
  Index first_, count_;
  core::Matrix out_;
  Tensor scratch_;
  Real *scores_, *top_, *total_;
};

/// Everything that the backward sweep of one lane reads.
struct Saved {
  ConstHeads q, k, v, out, dout;
  const Real* log_sums;
};

/// Probabilities and score gradients of one tile, made again.
class BackwardTile {
 public:
  BackwardTile() : scratch_({2 * query_tile, key_tile}) {
    p_ = scratch_.write().data();
    ds_ = p_ + query_tile * key_tile;
  }

  void make(const Lane& lane, const Saved& saved, const Real* delta, Index i, Index rows, Index j,
            Index cols) {
    probabilities = {p_, rows, cols, cols};
    gradients = {ds_, rows, cols, cols};
    core::gemm(1, lane.queries(saved.q, i, rows), core::transposed(lane.keys(saved.k, j, cols)), 0,
               probabilities);
    core::gemm(1, lane.queries(saved.dout, i, rows), core::transposed(lane.keys(saved.v, j, cols)),
               0, gradients);
    const Real* log_sums = saved.log_sums + (lane.batch * lane.problem.heads + lane.head) *
                                                lane.problem.sequences.queries;
    for (Index r = 0; r < rows; ++r) {
      const Index readable = std::clamp<Index>(lane.reach(i + r) - j, 0, cols);
      Real *p = p_ + r * cols, *ds = ds_ + r * cols;
      if (readable > 0) {
        core::simd().exp_sum(p, lane.problem.scale, log_sums[i + r], readable);
        core::simd().score_gradient(p, ds, delta[r], lane.problem.scale, readable);
      }
      std::fill(p + readable, p + cols, Real(0));
      std::fill(ds + readable, ds + cols, Real(0));
    }
  }

  core::Matrix probabilities{}, gradients{};

 private:
  Tensor scratch_;
  Real *p_, *ds_;
};

/// delta[r] = dO_r . O_r
void row_products(const core::ConstMatrix& a, const core::ConstMatrix& b, Real* delta) {
  for (Index r = 0; r < a.rows; ++r)
    delta[r] = core::simd().dot(a.data + r * a.stride, b.data + r * b.stride, a.cols);
}

/// One sweep over a lane: five products a tile, all gradients at once.
void sweep_lane(const Lane& lane, const Saved& saved, Heads dq, Heads dk, Heads dv) {
  const Sequences& s = lane.problem.sequences;
  zero(lane.keys(dk, 0, s.keys));
  zero(lane.keys(dv, 0, s.keys));
  BackwardTile tile;
  Real delta[query_tile];
  for (Index i = 0; i < s.queries; i += query_tile) {
    const Index rows = std::min(query_tile, s.queries - i);
    const auto q = lane.queries(saved.q, i, rows), dout = lane.queries(saved.dout, i, rows);
    const core::Matrix dq_tile = lane.queries(dq, i, rows);
    zero(dq_tile);
    row_products(dout, lane.queries(saved.out, i, rows), delta);
    for_each_tile(lane, i, rows, [&](Index j, Index cols) {
      tile.make(lane, saved, delta, i, rows, j, cols);
      core::gemm(1, core::transposed(tile.probabilities), dout, 1, lane.keys(dv, j, cols));
      core::gemm(1, core::transposed(tile.gradients), q, 1, lane.keys(dk, j, cols));
      core::gemm(1, tile.gradients, lane.keys(saved.k, j, cols), 1, dq_tile);
    });
  }
}

/// The query half of the two-sweep form: dQ of one block of queries.
void sweep_queries(const Lane& lane, const Saved& saved, Index i, Index rows, Heads dq) {
  BackwardTile tile;
  Real delta[query_tile];
  const core::Matrix dq_tile = lane.queries(dq, i, rows);
  zero(dq_tile);
  row_products(lane.queries(saved.dout, i, rows), lane.queries(saved.out, i, rows), delta);
  for_each_tile(lane, i, rows, [&](Index j, Index cols) {
    tile.make(lane, saved, delta, i, rows, j, cols);
    core::gemm(1, tile.gradients, lane.keys(saved.k, j, cols), 1, dq_tile);
  });
}

/// The key half: dK and dV of one tile of keys, over every block of queries that reads it.
void sweep_keys(const Lane& lane, const Saved& saved, Index j, Index cols, Heads dk, Heads dv) {
  const Sequences& s = lane.problem.sequences;
  BackwardTile tile;
  Real delta[query_tile];
  zero(lane.keys(dk, j, cols));
  zero(lane.keys(dv, j, cols));
  for (Index i = 0; i < s.queries; i += query_tile) {
    const Index rows = std::min(query_tile, s.queries - i);
    const Index read = std::clamp<Index>(lane.reach(i + rows - 1) - j, 0, cols);
    if (read == 0) continue;
    const auto dout = lane.queries(saved.dout, i, rows);
    row_products(dout, lane.queries(saved.out, i, rows), delta);
    tile.make(lane, saved, delta, i, rows, j, read);
    core::gemm(1, core::transposed(tile.probabilities), dout, 1, lane.keys(dv, j, read));
    core::gemm(1, core::transposed(tile.gradients), lane.queries(saved.q, i, rows), 1,
               lane.keys(dk, j, read));
  }
}

/// With this many lanes the one-sweep form has enough tasks; decided by shape alone, so results
/// do not depend on the number of threads.
bool one_sweep(const DenseProblem& problem) { return problem.sequences.batch * problem.heads >= 4; }

Index blocks_of(Index extent, Index tile) { return (extent + tile - 1) / tile; }

}  // namespace

void dense_forward(const DenseProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v, Heads out,
                   Real* log_sums) {
  const Index n = problem.sequences.queries, blocks = blocks_of(n, query_tile);
  const Index lanes = problem.sequences.batch * problem.heads;
  core::parallel_for(lanes * blocks, 1, [&](Index task, Index) {
    const Lane lane(problem, task / blocks);
    // Late blocks read most; starting with them evens out the threads' work.
    const Index i = (blocks - 1 - task % blocks) * query_tile;
    const Index rows = std::min(query_tile, n - i);
    ForwardBlock block(lane, i, rows, lane.queries(out, i, rows));
    for_each_tile(lane, i, rows, [&](Index j, Index cols) {
      block.add(lane.queries(q, i, rows), lane.keys(k, j, cols), lane.keys(v, j, cols), j);
    });
    block.finish(log_sums + (lane.batch * problem.heads + lane.head) * n + i);
    core::counters().scored_pairs.fetch_add(pairs_of(lane, i, rows), std::memory_order_relaxed);
  });
}

void dense_backward(const DenseProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                    ConstHeads out, const Real* log_sums, ConstHeads dout, Heads dq, Heads dk,
                    Heads dv) {
  const Saved saved{q, k, v, out, dout, log_sums};
  const Sequences& s = problem.sequences;
  const Index lanes = s.batch * problem.heads;
  if (one_sweep(problem)) {
    core::parallel_for(
        lanes, 1, [&](Index index, Index) { sweep_lane(Lane(problem, index), saved, dq, dk, dv); });
    return;
  }
  const Index query_blocks = blocks_of(s.queries, query_tile);
  const Index key_blocks = blocks_of(s.keys, key_tile);
  core::parallel_for(lanes * (query_blocks + key_blocks), 1, [&](Index task, Index) {
    const Lane lane(problem, task / (query_blocks + key_blocks));
    const Index block = task % (query_blocks + key_blocks);
    if (block < query_blocks) {
      const Index i = block * query_tile;
      sweep_queries(lane, saved, i, std::min(query_tile, s.queries - i), dq);
    } else {
      const Index j = (block - query_blocks) * key_tile;
      sweep_keys(lane, saved, j, std::min(key_tile, s.keys - j), dk, dv);
    }
  });
}

Cost dense_cost(const DenseProblem& problem) {
  const Sequences& s = problem.sequences;
  const Index product = 2 * problem.head_width;
  Cost cost;
  for (Index index = 0; index < s.batch * problem.heads; ++index) {
    const Lane lane(problem, index);
    for (Index i = 0; i < s.queries; i += query_tile) {
      const Index rows = std::min(query_tile, s.queries - i);
      const Index area = rows * lane.reach(i + rows - 1);
      cost.scored_pairs += pairs_of(lane, i, rows);
      cost.flops += 2 * product * area;
      cost.backward_flops += (one_sweep(problem) ? 5 : 7) * product * area;
    }
  }
  const Index rows = s.batch * s.queries * problem.heads;
  cost.saved_bytes = rows * (problem.head_width + 1) * Index(sizeof(Real));
  return cost;
}

}  // namespace weft::layers
