#include <cmath>
#include <limits>

#include "core/arrays/factor.h"
#include "core/arrays/scratch.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/pattern/label_block.h"
#include "layers/attention/pattern/relative_partials.h"
#include "layers/attention/pattern/shares.h"

// Letters: rows r of a block of queries, columns c of a panel of keys; `level` is the row's log-sum
// L under softmax, its threshold tau under entmax.
//   S = scale Q K^T + relative terms,  dP = dO V^T + relative terms,
//   softmax: P = exp(S - L),  dS = P (dP - delta),  delta = dO . O,
//   entmax:  P = max(0, (alpha - 1) S - tau)^(1 / (alpha - 1)),  s = P^(2 - alpha),
//            dS = s (dP - delta),  delta = dO . (the values weighted by s / sum s),
//   dV += P^T dO,  dK += scale dS^T Q,  dQ += scale dS K.
namespace weft::layers {
namespace {

/// Weights and score gradients of one tile, made again.
class Tile {
 public:
  explicit Tile(const PatternLane& lane)
      : relative(lane),
        scratch_(2 * most_scores),
        weight_factor_(lane.problem.product_precision()),
        gradient_factor_(lane.problem.product_precision()),
        entmax_(lane.problem.entmax.empty() ? nullptr
                                            : &lane.problem.entmax[std::size_t(lane.head)]) {
    p_ = scratch_.take(most_scores);
    ds_ = scratch_.take(most_scores);
  }

  /// What a block of queries brings to each of its tiles; `levels` and `delta` hold one number for
  /// each row.
  struct Rows {
    core::Operand q_factor, dout_factor;
    core::ConstMatrix place, dout;
    const Real *levels, *delta;
    Real* dreach;  ///< added to; null without a soft edge
  };

  /// weights = P and gradients = dS of one panel, zero where a row does not read.
  void make(const PatternLane& lane, const PatternPlan::Block& block,
            const PatternPlan::Panel& panel, const Rows& rows, const core::Operand& k,
            const core::Operand& v, const LabelBlock& labels) {
    weights = {p_, panel.rows, panel.columns, panel.columns};
    gradients = {ds_, panel.rows, panel.columns, panel.columns};
    core::gemm(lane.problem.scale, rows.q_factor, core::transposed(k), 0, weights);
    core::gemm(1, rows.dout_factor, core::transposed(v), 0, gradients);
    if (relative.present()) {
      relative.place(block, panel);
      relative.add_scores(rows.place, weights);
      relative.add_weight_gradients(rows.dout, gradients);
    }
    if (labels.present()) labels.add_scores(panel, weights);
    lane.add_decay(block, panel, weights);
    supported = !entmax_;
    const Index real = lane.real_columns(panel);
    for (Index r = 0; r < panel.rows; ++r) {
      Real *p = p_ + r * panel.columns, *ds = ds_ + r * panel.columns;
      for_each_stretch(
          lane.plan, block.first_row + panel.first_row + r, panel, real,
          [&](Index a, Index b) {
            Real* const dreach = rows.dreach ? rows.dreach + r : nullptr;
            const Index query = block.first_query + (panel.first_row + r) * block.step;
            pull_back(lane, query, panel, {p, ds, a, b}, rows.levels[r * block.step], rows.delta[r],
                      dreach);
          },
          [&](Index a, Index b) {
            std::fill(p + a, p + b, Real(0));
            std::fill(ds + a, ds + b, Real(0));
          });
    }
  }

  /// The two as factors of products, until the next panel.
  core::Operand weight_factor() { return weight_factor_.of(weights); }
  core::Operand gradient_factor() { return gradient_factor_.of(gradients); }

  core::Matrix weights{}, gradients{};
  /// Some weight is above 0.
  bool supported = false;
  RelativeTile relative;

 private:
  static constexpr Index most_scores = PatternPlan::most_rows * PatternPlan::key_tile;

  /// Columns [a, b) of a row.
  struct Stretch {
    Real *p, *ds;
    Index a, b;
  };

  /// One stretch of a row. p: S becomes P; ds: dP becomes dS; dreach gains what the soft edge
  /// passes on (see SoftRow).
  void pull_back(const PatternLane& lane, Index query, const PatternPlan::Panel& panel,
                 const Stretch& row, Real level, Real delta, Real* dreach) {
    Real *p = row.p + row.a, *ds = row.ds + row.a;
    const Index n = row.b - row.a;
    if (entmax_) {
      entmax_->weigh(p, n, level);
      entmax_->pull_back(p, ds, delta, n);
      supported = supported || core::simd().max(p, n) > 0;
      return;
    }
    if (level == -std::numeric_limits<Real>::infinity()) {  // nothing was summed
      std::fill_n(p, n, Real(0));
      std::fill_n(ds, n, Real(0));
      return;
    }
    core::simd().exp_sum(p, 1, level, n);
    if (dreach)
      *dreach += lane.soft_row(query, panel).pull_back(row.p, row.ds, delta, row.a, row.b);
    else
      core::simd().score_gradient(p, ds, delta, 1, n);
  }

  core::Scratch scratch_;
  core::Factor weight_factor_, gradient_factor_;
  const Entmax* entmax_;
  Real *p_, *ds_;
};

/// A [keys, D] matrix that key gradients are added to: the lane's own columns of the result, or a
/// partial sum of some of its blocks.
struct KeySum {
  Real* data;
  Index stride;

  /// rows of the panel += factor a^T b
  void add(const PatternPlan& plan, const PatternPlan::Panel& panel, Real factor,
           const core::Operand& a, const core::Operand& b, core::Tensor& scratch) const {
    const Index width = b.cols();
    if (panel.list < 0) {
      core::gemm(factor, core::transposed(a), b, 1,
                 {data + panel.first_key * stride, panel.columns, width, panel.step * stride});
      return;
    }
    Real* sums = scratch.write().data();
    core::gemm(factor, core::transposed(a), b, 0, {sums, panel.columns, width, width});
    for (Index c = 0; c < panel.columns; ++c)
      core::simd().axpy(1, sums + c * width,
                        data + plan.gathered[std::size_t(panel.list + c)] * stride, width);
  }
};

/// The arrays that one task adds to.
struct TaskSums {
  Heads dq, dplace;
  Real* dreach;  ///< [B, H, n]
  KeySum dk, dv;
  RelativeSums relative;
  Real* lost;  ///< the columns' sums of dS, [keys]; null without decay
};

/// What the products read.
struct ProductInputs {
  ProductHeads q, k, v, dout;
};

/// One block of queries, panel by panel: S and dP, then dV, dK and dQ, five products a panel.
void sweep_block(const PatternLane& lane, const PatternPlan::Block& block,
                 const PatternSaved& saved, const ProductInputs& factors, const TaskSums& sums,
                 Tile& tile) {
  const Index width = lane.problem.head_width;
  const Real scale = lane.problem.scale;
  const auto rows_of = [&](const auto& x) {
    return lane.queries(x, block.first_query, block.queries, block.step);
  };
  const auto mean = rows_of(saved.mean), dout = rows_of(saved.dout);
  Real delta[PatternPlan::most_rows];
  for (Index r = 0; r < block.queries; ++r)
    delta[r] = core::simd().dot(dout.row(r), mean.row(r), width);
  const RelativeTerms* terms = lane.problem.relative.get();
  const auto place = rows_of(terms ? terms->queries : saved.q);
  const core::Operand q = rows_of(factors.q), dout_factor = rows_of(factors.dout);
  const Index first_row = lane.index * lane.problem.sequences.queries + block.first_query;
  const Real* levels = saved.levels + first_row;
  Real* dreach = sums.dreach ? sums.dreach + first_row : nullptr;
  const core::Matrix dq = rows_of(sums.dq);
  if (!lane.zeroed_beforehand()) set_zero(dq);
  PanelRows keys(width), values(width);
  core::Tensor scratch({PatternPlan::key_tile, width});
  LabelBlock labels(lane, block);
  if (labels.present()) labels.score(place);
  for (Index p = block.first_panel; p < block.first_panel + block.panels; ++p) {
    const PatternPlan::Panel& panel = lane.plan.panels[std::size_t(p)];
    const auto k = keys.read(lane, panel, factors.k), v = values.read(lane, panel, factors.v);
    const Tile::Rows rows{layers::rows_of(q, panel),
                          layers::rows_of(dout_factor, panel),
                          layers::rows_of(place, panel),
                          layers::rows_of(dout, panel),
                          levels + panel.first_row * block.step,
                          delta + panel.first_row,
                          dreach ? dreach + panel.first_row : nullptr};
    tile.make(lane, block, panel, rows, k, v, labels);
    if (!tile.supported) continue;
    for (Index r = 0; sums.lost && r < panel.rows; ++r)
      core::simd().axpy(1, tile.gradients.row(r), sums.lost + panel.first_key, panel.columns);
    sums.dv.add(lane.plan, panel, 1, tile.weight_factor(), rows.dout_factor, scratch);
    const core::Operand ds = tile.gradient_factor();
    sums.dk.add(lane.plan, panel, scale, ds, rows.q_factor, scratch);
    core::gemm(scale, ds, k, 1, layers::rows_of(dq, panel));
    if (labels.present()) labels.pull_back_scores(panel, tile.gradients);
    if (!tile.relative.present()) continue;
    tile.relative.pull_back_scores(tile.gradients, rows.place,
                                   layers::rows_of(rows_of(sums.dplace), panel), sums.relative);
    tile.relative.pull_back_values(tile.weights, rows.dout, sums.relative);
  }
  if (labels.present()) labels.pull_back(place, rows_of(sums.dplace), sums.relative);
}

/// to += partial, which is [to.rows, D] without gaps.
void add_rows(const Real* partial, const core::Matrix& to) {
  for (Index r = 0; r < to.rows; ++r)
    core::simd().axpy(1, partial + r * to.cols, to.row(r), to.cols);
}

/// Key gradients are always added up over blocks, those of queries only over several rounds.
void start_from_zero(const PatternLane& lane, const PatternGradients& to) {
  if (lane.head % lane.problem.sharing() == 0) {
    set_zero(lane.keys(to.k));
    set_zero(lane.keys(to.v));
  }
  if (lane.zeroed_beforehand()) set_zero(lane.queries(to.q));
  if (to.place.data && to.place.data != to.q.data) set_zero(lane.queries(to.place));
}

/// The rows' gradients in the layout of the reach, summed over tokens where those share it.
/// from: [B, H, n]
void write_reach(const PatternProblem& problem, const Real* from, Real* to) {
  const Index n = problem.sequences.queries, heads = problem.heads;
  for (Index lane = 0; lane < problem.sequences.batch * heads; ++lane) {
    const Index batch = lane / heads, head = lane % heads;
    if (problem.edge->token_step > 0)
      for (Index i = 0; i < n; ++i) to[(batch * n + i) * heads + head] = from[lane * n + i];
    else
      to[head] = (batch > 0 ? to[head] : 0) + core::simd().sum(from + lane * n, n);
  }
}

/// delta_i e^(sink - level_i), with delta = dO . O: what row i gives its sink, and the sum of its
/// dS. Without a sink that sum is 0.  to: [n]
void sink_rows(const PatternLane& lane, const PatternSaved& saved, Real* to) {
  const Index n = lane.problem.sequences.queries, width = lane.problem.head_width;
  const core::ConstMatrix mean = lane.queries(saved.mean), dout = lane.queries(saved.dout);
  for (Index i = 0; i < n; ++i)
    to[i] = core::simd().dot(dout.row(i), mean.row(i), width) *
            std::exp(lane.empty_level() - saved.levels[lane.index * n + i]);
}

/// The gradients of sinks and decays.  lost: the columns' sums of dS of every task
void write_sinks_and_decays(const PatternProblem& problem, const PatternSaved& saved,
                            const Partials& lost, const PatternGradients& to) {
  if (!to.sinks && !to.decay) return;
  const Index n = problem.sequences.queries, heads = problem.heads;
  const Index lanes = problem.sequences.batch * heads, shares = shares_of(lanes);
  core::Tensor taken({lanes, n}, 0);
  Real* rows = taken.write().data();
  core::parallel_for(lanes, 1, [&](Index index, Index) {
    const PatternLane lane(problem, index);
    Real* own = rows + index * n;
    if (to.sinks) sink_rows(lane, saved, own);
    if (!to.decay) return;
    Real* columns = lost[index * shares];
    for (Index share = 1; share < shares; ++share)
      core::simd().axpy(1, lost[index * shares + share], columns, n);
    problem.decay->pull_back(own, columns, to.decay + lane.batch * n * heads + lane.head);
  });
  if (!to.sinks) return;
  std::fill_n(to.sinks, heads, Real(0));
  for (Index index = 0; index < lanes; ++index)
    to.sinks[index % heads] -= core::simd().sum(rows + index * n, n);
}

/// Which keys the tasks add to and where. Of the heads that share keys the first one's first share
/// adds to the result itself, the others to arrays of their own, [their keys, D].
struct KeyTasks {
  KeyTasks(const PatternProblem& problem, const std::vector<Shares>& dealt, Index shares_)
      : shares(shares_), together(problem.sharing() * shares_) {
    for (Index task = 0; task < Index(dealt.size()) * shares; ++task) {
      keys.push_back(direct(task) ? Interval{0, 0}
                                  : dealt[std::size_t(task / shares)].keys(task % shares));
      sizes.push_back((keys.back().end - keys.back().begin) * problem.head_width);
    }
  }
  /// Tasks of one head of keys are numbered one after another.
  bool direct(Index task) const { return task % together == 0; }

  Index shares, together;
  std::vector<Interval> keys;
  std::vector<Index> sizes;
};

}  // namespace

void pattern_backward(const PatternProblem& problem, const PatternSaved& saved,
                      const PatternGradients& to) {
  const Sequences& s = problem.sequences;
  const Index lanes = s.batch * problem.heads, shares = shares_of(lanes);
  std::vector<Shares> dealt;  // of each lane's plan
  for (Index index = 0; index < lanes; ++index) dealt.emplace_back(problem.plan(index), shares);
  const KeyTasks tasks(problem, dealt, shares);
  const Partials dk(tasks.sizes), dv(tasks.sizes);
  const Partials lost(std::vector<Index>(std::size_t(lanes * shares), to.decay ? s.keys : 0));
  const auto factor = [&](ConstHeads x, Index tokens, Index heads) {
    return ProductHeads(problem.product_precision(), x, tokens, heads * problem.head_width);
  };
  const Index queries = s.batch * s.queries, keys = s.batch * s.keys;
  const ProductInputs factors{
      factor(saved.q, queries, problem.heads), factor(saved.k, keys, problem.key_heads()),
      factor(saved.v, keys, problem.key_heads()), factor(saved.dout, queries, problem.heads)};
  const RelativePartials relative(problem, lanes * shares);
  core::Tensor reach_sums({problem.edge ? lanes * s.queries : 0}, 0);
  Real* dreach = problem.edge ? reach_sums.write().data() : nullptr;
  core::parallel_for(lanes, 1,
                     [&](Index index, Index) { start_from_zero(PatternLane(problem, index), to); });
  std::size_t rounds = 0;
  for (Index index = 0; index < lanes; ++index)
    rounds = std::max(rounds, problem.plan(index).rounds.size());
  for (std::size_t round = 0; round < rounds; ++round)
    core::parallel_for(lanes * shares, 1, [&](Index task, Index) {
      const PatternLane lane(problem, task / shares);
      if (round >= lane.plan.rounds.size()) return;
      const auto sum_of = [&](Heads result, const Partials& partial) {
        const core::Matrix m = lane.keys(result);
        if (tasks.direct(task)) return KeySum{m.data, m.stride};
        const Index before = tasks.keys[std::size_t(task)].begin * problem.head_width;
        return KeySum{partial[task] - before, problem.head_width};
      };
      const TaskSums sums{to.q,
                          to.place,
                          dreach,
                          sum_of(to.k, dk),
                          sum_of(to.v, dv),
                          relative.of(task),
                          to.decay ? lost[task] : nullptr};
      Tile tile(lane);
      const Share blocks =
          dealt[std::size_t(task / shares)].of(lane.plan.rounds[round], task % shares);
      for (Index b = blocks.first; b < blocks.end; b += blocks.step)
        sweep_block(lane, lane.plan.blocks[std::size_t(b)], saved, factors, sums, tile);
    });
  relative.write(to);
  if (problem.edge) write_reach(problem, dreach, to.reach);
  write_sinks_and_decays(problem, saved, lost, to);
  if (tasks.together == 1) return;
  core::parallel_for(lanes / problem.sharing(), 1, [&](Index index, Index) {
    const PatternLane lane(problem, index * problem.sharing());
    for (Index i = index * tasks.together + 1; i < (index + 1) * tasks.together; ++i) {
      const Interval own = tasks.keys[std::size_t(i)];
      add_rows(dk[i], lane.keys(to.k, own.begin, own.end - own.begin));
      add_rows(dv[i], lane.keys(to.v, own.begin, own.end - own.begin));
    }
  });
}

}  // namespace weft::layers
