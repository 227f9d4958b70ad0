#include <algorithm>
#include <cmath>
#include <limits>

#include "core/arrays/factor.h"
#include "core/arrays/scratch.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/lists/rows.h"

// Letters: rows are query slots, columns key slots of a block; L_i the log-sum that the forward
// pass saved, over all rounds of a token or of one slot.
//   P = exp(scale Q K^T - L),  dP = dO V^T,  dS = scale P (dP - delta),  delta_i = dO_i . O_i,
//   dV += P^T dO,  dK += dS^T Q,  dQ = dS K.
// With one softmax over several rounds, L_i and delta_i are those of the whole row, so each round
// is pulled back by itself and the gradients of the rounds are added.
namespace weft::layers {
namespace {

constexpr Index least_rows = ListedProblem::least_rows, most_backward_rows = 64;

/// Gradients show the whole anyway, so blocks are cut for speed alone.
std::vector<TokenList::Block> backward_blocks(const TokenList& list) {
  Index most = 0;
  for (std::size_t s = 0; s < list.queries.size(); ++s)
    most = std::max<Index>(most, list.last[s] - list.first[s]);
  return exact_blocks(list, std::clamp<Index>(most / 2, least_rows, most_backward_rows),
                      std::max<Index>(most, 2 * least_rows));
}

/// Of each slot of a list: its softmax's log-sum, and dO . O where that is known beforehand.
struct SlotFacts {
  std::vector<Real> log_sums, deltas;
};

/// The gradients of one list, slot by slot, with all panels in the list's order.
class ListBackward {
 public:
  ListBackward(const ListedProblem& problem, const TokenList& list)
      : problem_(problem),
        list_(list),
        filter_(list),
        blocks_(backward_blocks(list)),
        factors_(6, core::Factor(problem.precision)) {
    const Index width = problem.head_width, rows = Index(list.queries.size());
    const Index columns = Index(list.keys.size());
    const Index most_scores = most_backward_rows * std::max(problem.most_keys, 2 * least_rows);
    // As large for every list of the same sequences, and in its order.
    const Index most_rows = std::max(rows, problem.log_sums_per_lane());
    const Index most_columns = std::max(columns, problem.sequences.keys + problem.most_keys);
    panels_ = core::Scratch((3 * most_rows + 4 * most_columns) * width);
    for (Real** panel : {&q, &dout, &dq}) *panel = panels_.take(rows * width);
    for (Real** panel : {&k, &v, &dk, &dv}) *panel = panels_.take(columns * width);
    scores_ = core::Scratch(2 * most_scores);
    p_ = scores_.take(most_scores);
    ds_ = scores_.take(most_scores);
    std::fill_n(dk, 2 * columns * width, Real(0));
  }

  void fill(const HeadLane& lane, const ListedSaved& saved) {
    const Index rows = Index(list_.queries.size()), columns = Index(list_.keys.size());
    gather(lane.queries(saved.q), list_.queries, q, rows);
    gather(lane.queries(saved.dout), list_.queries, dout, rows);
    gather(lane.keys(saved.k), list_.keys, k, columns);
    gather(lane.keys(saved.v), list_.keys, v, columns);
  }

  void run(const SlotFacts& facts) {
    const Index width = problem_.head_width;
    const Index rows = Index(list_.queries.size()), columns = Index(list_.keys.size());
    queries_ = factors_[0].of({q, rows, width, width});
    upstream_ = factors_[1].of({dout, rows, width, width});
    keys_ = factors_[2].of({k, columns, width, width});
    values_ = factors_[3].of({v, columns, width, width});
    for (const auto& block : blocks_) pull_back(block, facts);
  }

  Real *q, *k, *v, *dout, *dq, *dk, *dv;  ///< dk and dv are adjacent

 private:
  /// One block: five products.
  void pull_back(const TokenList::Block& block, const SlotFacts& facts) {
    const Index width = problem_.head_width;
    const core::Matrix own_dq{dq + block.query * width, block.queries, width, width};
    if (block.keys == 0) {
      std::fill_n(own_dq.data, block.queries * width, Real(0));
      return;
    }
    const core::Operand own_q = core::row_panel(queries_, block.query, block.queries);
    const core::Operand own_d = core::row_panel(upstream_, block.query, block.queries);
    const core::Operand own_k = core::row_panel(keys_, block.key, block.keys);
    const core::Operand own_v = core::row_panel(values_, block.key, block.keys);
    const auto of_keys = [&](Real* panel) {
      return core::Matrix{panel + block.key * width, block.keys, width, width};
    };
    const core::Matrix p{p_, block.queries, block.keys, block.keys};
    const core::Matrix ds{ds_, block.queries, block.keys, block.keys};
    core::gemm(problem_.scale, own_q, core::transposed(own_k), 0, p);
    core::gemm(1, own_d, core::transposed(own_v), 0, ds);
    for (Index r = 0; r < block.queries; ++r) differentiate_row(block, r, facts);
    const core::Operand weights = factors_[4].of(p), gradients = factors_[5].of(ds);
    core::gemm(1, core::transposed(weights), own_d, 1, of_keys(dv));
    core::gemm(1, core::transposed(gradients), own_q, 1, of_keys(dk));
    core::gemm(1, gradients, own_k, 0, own_dq);
  }

  /// Row i: p = exp(s - L_i), ds = scale p (dp - delta_i), zero outside what it reads. Where the
  /// output of a slot alone is not known, delta_i = sum_j p_j dp_j, which is the same number.
  void differentiate_row(const TokenList::Block& block, Index r, const SlotFacts& facts) {
    const auto slot = std::size_t(block.query + r);
    Real *p = p_ + r * block.keys, *ds = ds_ + r * block.keys;
    const RowFilter::Range range = filter_.admit(block, Index(slot), p);
    const Index n = range.count > 0 ? range.last - range.first : 0;
    const Index last = range.first + n;
    if (n > 0) {
      core::simd().exp_sum(p + range.first, 1, facts.log_sums[slot], n);
      const Real delta = facts.deltas.empty()
                             ? core::simd().dot(p + range.first, ds + range.first, n)
                             : facts.deltas[slot];
      core::simd().score_gradient(p + range.first, ds + range.first, delta, problem_.scale, n);
    }
    std::fill(p, p + range.first, Real(0));
    std::fill(p + last, p + block.keys, Real(0));
    std::fill(ds, ds + range.first, Real(0));
    std::fill(ds + last, ds + block.keys, Real(0));
  }

  const ListedProblem& problem_;
  const TokenList& list_;
  RowFilter filter_;
  std::vector<TokenList::Block> blocks_;
  core::Scratch panels_, scores_;
  std::vector<core::Factor> factors_;
  core::Operand queries_{core::ConstMatrix{}}, upstream_ = queries_, keys_ = queries_,
                                               values_ = queries_;
  Real *p_, *ds_;
};

/// Where the gradients of one list are added.
struct Targets {
  core::Matrix dq, dk, dv;
};

void add_to(const ListedProblem& problem, const TokenList& list, const ListBackward& made,
            const Targets& to) {
  scatter_add(made.dq, list.queries, to.dq);
  scatter_add(made.dk, list.keys, problem.shared_keys ? to.dq : to.dk);
  scatter_add(made.dv, list.keys, to.dv);
}

void clear(const ListedProblem& problem, const Targets& to) {
  fill_zero(to.dq);
  if (!problem.shared_keys) fill_zero(to.dk);
  fill_zero(to.dv);
}

/// delta = dO . O of every token: [lanes, n]
Tensor all_deltas(const ListedProblem& problem, const ListedSaved& saved) {
  const Index n = problem.sequences.queries, pieces = (n + tokens_per_piece - 1) / tokens_per_piece;
  Tensor deltas({problem.lanes(), n});
  Real* const to = deltas.write().data();
  core::parallel_for(problem.lanes() * pieces, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / pieces);
    const core::ConstMatrix dout = lane.queries(saved.dout), out = lane.queries(saved.out);
    const Index first = task % pieces * tokens_per_piece;
    for (Index t = first; t < std::min(n, first + tokens_per_piece); ++t)
      to[lane.index * n + t] = core::simd().dot(dout.row(t), out.row(t), out.cols);
  });
  return deltas;
}

/// One softmax over all rounds: adds the gradients of one. L and delta are those of the token.
void pull_back_round(const ListedProblem& problem, const ListedSaved& saved, const Tensor& deltas,
                     const HeadLane& lane, Index round, const Targets& to) {
  const TokenList list = problem.list(lane.index, round);
  ListBackward made(problem, list);
  made.fill(lane, saved);
  const Index before = lane.index * problem.sequences.queries;
  SlotFacts facts;
  for (const std::int32_t token : list.queries) {
    facts.log_sums.push_back(saved.log_sums[before + token]);
    facts.deltas.push_back(deltas.data()[before + token]);
  }
  made.run(facts);
  add_to(problem, list, made, to);
}

/// A mean over slots, out_t = sum_slots O_slot / (count_t + eps): each slot's own softmax with
/// dO_slot = dout_t / (count_t + eps). A slot that read nothing gave v_t, so dv_t += dO_slot.
void pull_back_sets(const ListedProblem& problem, const ListedSaved& saved, const HeadLane& lane,
                    const Targets& to) {
  const Index width = problem.head_width;
  const TokenList list = problem.list(lane.index, 0);
  const auto counts = slots_per_token(list, problem.sequences.queries);
  ListBackward made(problem, list);
  made.fill(lane, saved);
  SlotFacts facts;
  const Real* log_sums = saved.log_sums + lane.index * problem.slots;
  facts.log_sums.assign(log_sums, log_sums + problem.slots);
  clear(problem, to);
  for (std::size_t slot = 0; slot < list.queries.size(); ++slot) {
    const Index token = list.queries[slot];
    Real* gradient = made.dout + Index(slot) * width;
    core::simd().scale(1 / (Real(counts[std::size_t(token)]) + problem.count_eps), gradient, width);
    if (facts.log_sums[slot] == minus_infinity && problem.self_as_fallback)
      core::simd().axpy(1, gradient, to.dv.row(token), width);
  }
  made.run(facts);
  add_to(problem, list, made, to);
}

/// The sum over rounds, in order.  partial: [rounds, length, D] of one lane
void add_rounds(const ListedProblem& problem, const Real* partial, Index length, Index token,
                Real* to) {
  const Index width = problem.head_width;
  std::copy_n(partial + token * width, width, to);
  for (Index r = 1; r < problem.rounds; ++r)
    core::simd().add(to, partial + (r * length + token) * width, to, width);
}

/// Makes each round's gradients in memory of their own, then adds them up token by token. With one
/// round they are made in place.
void backward_softmax(const ListedProblem& problem, const ListedSaved& saved, Heads dq, Heads dk,
                      Heads dv) {
  const Index n = problem.sequences.queries, m = problem.sequences.keys, rounds = problem.rounds;
  const Index width = problem.head_width, lanes = problem.lanes();
  const bool shared = problem.shared_keys;
  const Index kept = rounds > 1 ? lanes * rounds : 0;
  Tensor queries({kept, n, width}), keys({shared ? 0 : kept, m, width}), values({kept, m, width});
  Real *dqs = queries.write().data(), *dks = keys.write().data(), *dvs = values.write().data();
  const Tensor deltas = all_deltas(problem, saved);
  core::parallel_for(lanes * rounds, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / rounds);
    const Targets in_place{lane.queries(dq), lane.keys(dk), lane.keys(dv)};
    const Targets own{{dqs + task * n * width, n, width, width},
                      {shared ? nullptr : dks + task * m * width, m, width, width},
                      {dvs + task * m * width, m, width, width}};
    const Targets& to = rounds > 1 ? own : in_place;
    clear(problem, to);
    pull_back_round(problem, saved, deltas, lane, task % rounds, to);
  });
  const Index longest = std::max(n, m);
  const Index pieces = (longest + tokens_per_piece - 1) / tokens_per_piece;
  core::parallel_for(lanes * pieces, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / pieces);
    const Index first = task % pieces * tokens_per_piece, offset = lane.index * rounds * width;
    const core::Matrix to_q = lane.queries(dq), to_k = lane.keys(dk), to_v = lane.keys(dv);
    const core::ConstMatrix dout = lane.queries(saved.dout);
    const Index real = problem.self_as_fallback ? std::min(n, lane.real_keys) : 0;
    for (Index t = first; t < std::min(longest, first + tokens_per_piece); ++t) {
      if (rounds > 1 && t < n) add_rounds(problem, dqs + offset * n, n, t, to_q.row(t));
      if (rounds > 1 && t < m && !shared) add_rounds(problem, dks + offset * m, m, t, to_k.row(t));
      if (rounds > 1 && t < m) add_rounds(problem, dvs + offset * m, m, t, to_v.row(t));
      if (t < real && saved.log_sums[lane.index * n + t] == minus_infinity)
        core::simd().add(to_v.row(t), dout.row(t), to_v.row(t), width);
    }
  });
}

}  // namespace

void listed_backward(const ListedProblem& problem, const ListedSaved& saved, Heads dq, Heads dk,
                     Heads dv) {
  const bool softmax = problem.merge == ListedProblem::Merge::softmax;
  if (softmax && !problem.rounds_in_turn) return backward_softmax(problem, saved, dq, dk, dv);
  const Tensor deltas = softmax ? all_deltas(problem, saved) : Tensor();
  core::parallel_for(problem.lanes(), 1, [&](Index index, Index) {
    const HeadLane lane = problem.lane(index);
    const Targets to{lane.queries(dq), lane.keys(dk), lane.keys(dv)};
    if (!softmax) return pull_back_sets(problem, saved, lane, to);
    clear(problem, to);
    for (Index round = 0; round < problem.rounds; ++round)
      pull_back_round(problem, saved, deltas, lane, round, to);
  });
}

}  // namespace weft::layers
