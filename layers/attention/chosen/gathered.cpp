#include "layers/attention/chosen/gathered.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/arrays/gemm.h"
#include "core/arrays/scratch.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

// Letters, for one query and one head of keys: r heads of queries, n rows that it reads,
//   S = scale Q K^T [r, n],  L the logarithm of each row's sum,  P = exp(S - L),  O = P V,
//   dP = dO V^T,  dS = scale P (dP - dO . O),  dQ = dS K,  dK += dS^T Q,  dV += P^T dO.
namespace weft::layers {
namespace {

constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();
constexpr Index queries_per_piece = 32;

/// The panels of one query after another, of one head of keys.
class Panel {
 public:
  Panel(const GatheredProblem& problem, Index b, Index g)
      : problem_(problem),
        b_(b),
        g_(g),
        memory_(problem.most * (4 * problem.head_width + 2 * problem.group())) {
    const Index size = problem.most * problem.head_width;
    for (Real** panel : {&k, &v, &dk, &dv}) *panel = memory_.take(size);
    for (Real** scores : {&p, &ds}) *scores = memory_.take(problem.most * problem.group());
  }

  /// Takes the query's rows and their keys and values; false where it reads nothing.
  bool fill(Index query, ConstHeads keys, ConstHeads values) {
    rows.clear();
    problem_.read(b_, query, rows);
    const Index first = b_ * problem_.sequences.keys, column = g_ * problem_.head_width;
    gather_rows(keys, first, column, rows, problem_.head_width, k);
    gather_rows(values, first, column, rows, problem_.head_width, v);
    return !rows.empty();
  }

  core::Matrix of_rows(Real* panel) const {
    return {panel, count(), problem_.head_width, problem_.head_width};
  }
  core::Matrix of_scores(Real* scores) const {
    return {scores, problem_.group(), count(), count()};
  }
  /// The group's heads of a query, as rows.
  template <class Any>
  auto heads(Any x, Index query) const {
    using Result = std::conditional_t<std::is_same_v<Any, Heads>, core::Matrix, core::ConstMatrix>;
    const Index width = problem_.head_width;
    return Result{x.data + (b_ * problem_.sequences.queries + query) * x.stride +
                      g_ * problem_.group() * width,
                  problem_.group(), width, width};
  }
  Index count() const { return Index(rows.size()); }
  /// The first of the group's log-sums of a query; those of its heads are n apart.
  Index log_sum(Index query) const {
    return (b_ * problem_.heads + g_ * problem_.group()) * problem_.sequences.queries + query;
  }

  std::vector<std::int32_t> rows;
  Real *k, *v, *dk, *dv, *p, *ds;

 private:
  const GatheredProblem& problem_;
  Index b_, g_;
  core::Scratch memory_;
};

/// rows of x += panel
void scatter_add(const Panel& panel, const Real* from, Heads x, Index first_row, Index column,
                 Index width) {
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    Real* row = x.data + (first_row + panel.rows[i]) * x.stride + column;
    core::simd().add(from + Index(i) * width, row, row, width);
  }
}

/// One call, as its pullback needs it again.
struct Call {
  GatheredProblem problem;
  std::vector<HeadBlock> blocks;
  Var sinks;

  Index columns() const { return problem.heads * problem.head_width; }
  bool has_sinks() const { return sinks.value().size() > 0; }

  void forward(Heads out, Real* log_sums) const {
    const Index n = problem.sequences.queries,
                pieces = (n + queries_per_piece - 1) / queries_per_piece;
    const Index lanes = problem.sequences.batch * problem.key_heads;
    core::parallel_for(lanes * pieces, 1, [&](Index task, Index) {
      const Index lane = task / pieces, first = task % pieces * queries_per_piece;
      Panel panel(problem, lane / problem.key_heads, lane % problem.key_heads);
      Index pairs = 0;
      for (Index t = first; t < std::min(n, first + queries_per_piece); ++t) {
        attend(panel, t, lane % problem.key_heads, out, log_sums);
        pairs += panel.count() * problem.group();
      }
      core::counters().scored_pairs.fetch_add(pairs, std::memory_order_relaxed);
    });
  }

  autograd::Gradients pull_back(const HeadGradients& gradients, const Tensor& out,
                                const Tensor& log_sums, const Tensor& dout) const {
    autograd::Gradients d = gradients.allocate();
    const Heads dq = gradients.heads(d, 0), dk = gradients.heads(d, 1), dv = gradients.heads(d, 2);
    const Index lanes = problem.sequences.batch * problem.key_heads;
    std::vector<double> dsinks(std::size_t(problem.sequences.batch * problem.heads), 0.0);
    core::parallel_for(lanes, 1, [&](Index lane, Index) {
      pull_back_lane(lane, {out.data(), columns()}, {dout.data(), columns()}, log_sums.data(), dq,
                     dk, dv, dsinks.data());
    });
    if (!has_sinks()) return d;
    Tensor of_sinks({problem.heads}, 0);
    for (std::size_t i = 0; i < dsinks.size(); ++i)
      of_sinks.write()[i % std::size_t(problem.heads)] += Real(dsinks[i]);
    d.push_back(std::move(of_sinks));
    return d;
  }

 private:
  void attend(Panel& panel, Index t, Index g, Heads out, Real* log_sums) const {
    const core::Matrix to = panel.heads(out, t);
    const bool reads = panel.fill(t, heads_of(blocks[1]), heads_of(blocks[2]));
    if (reads)
      core::gemm(problem.scale, panel.heads(heads_of(blocks[0]), t),
                 core::transposed(panel.of_rows(panel.k)), 0, panel.of_scores(panel.p));
    for (Index h = 0; h < problem.group(); ++h) {
      Real* row = panel.p + h * panel.count();
      Real top = reads ? core::simd().max(row, panel.count()) : minus_infinity, total = 0;
      if (has_sinks()) {
        const Real sink = sinks.value().data()[g * problem.group() + h];
        top = std::max(top, sink);
        total = std::exp(sink - top);
      }
      total += reads ? core::simd().exp_sum(row, 1, top, panel.count()) : 0;
      log_sums[panel.log_sum(t) + h * problem.sequences.queries] =
          total > 0 ? top + std::log(total) : minus_infinity;
      if (reads) core::simd().scale(1 / total, row, panel.count());
    }
    if (reads)
      core::gemm(1, panel.of_scores(panel.p), panel.of_rows(panel.v), 0, to);
    else
      std::fill_n(to.data, problem.group() * problem.head_width, Real(0));
  }

  /// Queries in order, so that each row's gradient is added up in one order.
  void pull_back_lane(Index lane, ConstHeads out, ConstHeads dout, const Real* log_sums, Heads dq,
                      Heads dk, Heads dv, double* dsinks) const {
    const Index b = lane / problem.key_heads, g = lane % problem.key_heads;
    const Index width = problem.head_width, first = b * problem.sequences.keys;
    for (const Heads& x : {dk, dv})
      for (Index j = first; j < first + problem.sequences.keys; ++j)
        std::fill_n(x.data + j * x.stride + g * width, width, Real(0));
    Panel panel(problem, b, g);
    for (Index t = 0; t < problem.sequences.queries; ++t) {
      const core::Matrix to = panel.heads(dq, t);
      const core::ConstMatrix o = panel.heads(out, t), up = panel.heads(dout, t);
      if (!panel.fill(t, heads_of(blocks[1]), heads_of(blocks[2]))) {
        std::fill_n(to.data, problem.group() * width, Real(0));
        continue;
      }
      const core::ConstMatrix q = panel.heads(heads_of(blocks[0]), t);
      const core::Matrix p = panel.of_scores(panel.p), ds = panel.of_scores(panel.ds);
      core::gemm(problem.scale, q, core::transposed(panel.of_rows(panel.k)), 0, p);
      core::gemm(1, up, core::transposed(panel.of_rows(panel.v)), 0, ds);
      for (Index h = 0; h < problem.group(); ++h) {
        const Real level = log_sums[panel.log_sum(t) + h * problem.sequences.queries];
        const Real delta = core::simd().dot(up.row(h), o.row(h), width);
        core::simd().exp_sum(p.row(h), 1, level, panel.count());
        core::simd().score_gradient(p.row(h), ds.row(h), delta, problem.scale, panel.count());
        const Index head = g * problem.group() + h;
        if (has_sinks())
          dsinks[b * problem.heads + head] -=
              std::exp(double(sinks.value().data()[head]) - double(level)) * double(delta);
      }
      core::gemm(1, ds, panel.of_rows(panel.k), 0, to);
      core::gemm(1, core::transposed(ds), q, 0, panel.of_rows(panel.dk));
      core::gemm(1, core::transposed(p), up, 0, panel.of_rows(panel.dv));
      scatter_add(panel, panel.dk, dk, first, g * width, width);
      scatter_add(panel, panel.dv, dv, first, g * width, width);
    }
  }
};

}  // namespace

void gather_rows(ConstHeads x, Index first_row, Index column, std::span<const std::int32_t> rows,
                 Index width, Real* panel) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(x.data + (first_row + rows[i]) * x.stride + column, width,
                panel + Index(i) * width);
}

/// Saves: the projections, the output and one log-sum for each query and head.
Gathered gathered_attention(const GatheredProblem& problem, const std::vector<HeadBlock>& blocks,
                            const Var& sinks) {
  const Sequences& s = problem.sequences;
  const Call call{problem, blocks, sinks};
  const Index keys = problem.key_heads * problem.head_width;
  const HeadGradients gradients(blocks, {call.columns(), keys, keys});
  std::vector<Var> sources = gradients.sources();
  if (call.has_sinks()) sources.push_back(sinks);
  Tensor out({s.batch * s.queries, call.columns()}), log_sums({s.batch, problem.heads, s.queries});
  call.forward({out.write().data(), call.columns()}, log_sums.write().data());
  const Tensor kept = out;
  return {autograd::record("gathered_attention", std::move(out), sources,
                           [call, gradients, kept, log_sums](Tensor dout) {
                             return call.pull_back(gradients, kept, log_sums, dout);
                           }),
          log_sums};
}

Cost gathered_cost(const GatheredProblem& problem, Index pairs) {
  const Sequences& s = problem.sequences;
  const Index products = problem.heads * pairs * problem.head_width;
  return {.scored_pairs = problem.heads * pairs,
          .flops = 4 * products,
          .backward_flops = 10 * products,
          .saved_bytes =
              s.batch * s.queries * problem.heads * (problem.head_width + 1) * Index(sizeof(Real))};
}

}  // namespace weft::layers
