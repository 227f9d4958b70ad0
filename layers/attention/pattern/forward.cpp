#include <cmath>
#include <limits>

#include "core/arrays/factor.h"
#include "core/arrays/scratch.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/pattern/label_block.h"
#include "layers/attention/pattern/relative_tile.h"

namespace weft::layers {
namespace {

constexpr Index most_rows = PatternPlan::most_rows;
constexpr Real minus_infinity = -std::numeric_limits<Real>::infinity();

/// The running softmax of one block of queries: for each row the largest score, the sum of
/// exp(score - largest) and the values weighted so.
class RunningSoftmax {
 public:
  RunningSoftmax(const PatternLane& lane, const PatternPlan::Block& block, Heads out,
                 Real* log_sums)
      : lane_(lane),
        block_(block),
        out_(lane.queries(out, block.first_query, block.queries, block.step)),
        log_sums_(log_sums + block.first_query),
        relative_(lane),
        labels_(lane, block),
        scratch_(most_rows * (PatternPlan::key_tile + 2)),
        weights_(lane.problem.product_precision()) {
    scores_ = scratch_.take(most_rows * PatternPlan::key_tile);
    top_ = scratch_.take(most_rows);
    total_ = scratch_.take(most_rows);
    if (!lane.zeroed_beforehand()) set_zero(out_);
    if (labels_.present()) labels_.score(places());
    for (Index r = 0; r < block.queries; ++r) {
      // `out` holds what earlier rounds gathered, normalised: a sum of one at its log-sum.
      top_[r] = lane.zeroed_beforehand() ? log_sums_[r * block.step] : lane.empty_level();
      total_[r] = top_[r] > minus_infinity ? 1 : 0;
    }
  }

  void add(const core::Operand& q, const core::Operand& k, const core::Operand& v,
           const PatternPlan::Panel& panel) {
    const core::Matrix s{scores_, panel.rows, panel.columns, panel.columns};
    const core::Matrix out = rows_of(out_, panel);
    core::gemm(lane_.problem.scale, rows_of(q, panel), core::transposed(k), 0, s);
    if (relative_.present()) {
      relative_.place(block_, panel);
      relative_.add_scores(rows_of(places(), panel), s);
    }
    if (labels_.present()) labels_.add_scores(panel, s);
    lane_.add_decay(block_, panel, s);
    const Index real = lane_.real_columns(panel);
    for (Index r = 0; r < panel.rows; ++r)
      absorb_row(panel.first_row + r, scores_ + r * panel.columns, panel, real);
    core::gemm(1, weights_.of(s), v, 1, out);
    if (relative_.present()) relative_.add_values(s, out);
  }

  void finish() {
    for (Index r = 0; r < block_.queries; ++r) {
      const Real total = total_[r];
      log_sums_[r * block_.step] = total > 0 ? top_[r] + std::log(total) : minus_infinity;
      if (total > 0 && total != 1) core::simd().scale(1 / total, out_.row(r), out_.cols);
    }
  }

  Index pairs() const { return pairs_; }

 private:
  /// The queries that relative tables are scored by.
  core::ConstMatrix places() const {
    return lane_.queries(lane_.problem.relative->queries, block_.first_query, block_.queries,
                         block_.step);
  }

  SoftRow soft_row(Index r, const PatternPlan::Panel& panel) const {
    return lane_.soft_row(block_.first_query + r * block_.step, panel);
  }

  /// Turns the scores that row r reads into weights against the running maximum, rescales what the
  /// row has gathered so far, and zeroes the rest.
  void absorb_row(Index r, Real* row, const PatternPlan::Panel& panel, Index real) {
    const Index plan_row = block_.first_row + r;
    Real top = top_[r];
    for_each_stretch(
        lane_.plan, plan_row, panel, real,
        [&](Index a, Index b) {
          pairs_ += b - a;
          if (lane_.problem.edge) a = soft_row(r, panel).first_summed(a, b);
          if (a < b) top = std::max(top, core::simd().max(row + a, b - a));
        },
        [&](Index a, Index b) { std::fill(row + a, row + b, Real(0)); });
    if (top == minus_infinity) {
      std::fill_n(row, panel.columns, Real(0));
      return;
    }
    Real sum = 0;
    for_each_stretch(
        lane_.plan, plan_row, panel, real,
        [&](Index a, Index b) {
          sum += lane_.problem.edge ? soft_row(r, panel).weigh(row, a, b, top)
                                    : core::simd().exp_sum(row + a, 1, top, b - a);
        },
        [](Index, Index) {});
    if (top > top_[r] && total_[r] > 0) {
      const Real shrink = std::exp(top_[r] - top);
      total_[r] *= shrink;
      core::simd().scale(shrink, out_.row(r), out_.cols);
    }
    top_[r] = top;
    total_[r] += sum;
  }

  const PatternLane& lane_;
  const PatternPlan::Block& block_;
  core::Matrix out_;
  Real* log_sums_;
  RelativeTile relative_;
  LabelBlock labels_;
  core::Scratch scratch_;
  core::Factor weights_;
  Real *scores_, *top_, *total_;
  Index pairs_ = 0;
};

void run_block(const PatternLane& lane, const PatternPlan::Block& block, const ProductHeads& q,
               const ProductHeads& k, const ProductHeads& v, Heads out, Real* log_sums) {
  RunningSoftmax softmax(lane, block, out, log_sums);
  PanelRows keys(lane.problem.head_width), values(lane.problem.head_width);
  const auto queries = lane.queries(q, block.first_query, block.queries, block.step);
  for (Index p = block.first_panel; p < block.first_panel + block.panels; ++p) {
    const PatternPlan::Panel& panel = lane.plan.panels[std::size_t(p)];
    softmax.add(queries, keys.read(lane, panel, k), values.read(lane, panel, v), panel);
  }
  softmax.finish();
  core::counters().scored_pairs.fetch_add(softmax.pairs(), std::memory_order_relaxed);
}

/// Nothing gathered yet: outputs 0, log-sums those of the sink.
void start_from_zero(const PatternLane& lane, Heads out, Real* log_sums) {
  const Index n = lane.problem.sequences.queries;
  set_zero(lane.queries(out));
  std::fill_n(log_sums, n, lane.empty_level());
}

/// Scores, values and their gradients: a product each forward, two more backward for a table.
void add_relative_cost(RelativeTile& tile, const PatternPlan::Block& block,
                       const PatternPlan::Panel& panel, const RelativeTerms& terms, Index gathers,
                       Cost& cost) {
  tile.place(block, panel);
  const Index product = tile.product_flops();
  if (terms.keys.data) cost.flops += product, cost.backward_flops += 3 * product;
  if (terms.values.data) cost.flops += gathers * product, cost.backward_flops += 2 * product;
}

}  // namespace

void pattern_forward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                     Heads out, const PatternTrace& trace) {
  if (!problem.entmax.empty()) return sparse_pattern_forward(problem, q, k, v, out, trace);
  Real* const log_sums = trace.levels;
  const Sequences& s = problem.sequences;
  const Index n = s.queries, lanes = s.batch * problem.heads;
  const auto factor = [&](ConstHeads x, Index tokens, Index heads) {
    return ProductHeads(problem.product_precision(), x, tokens, heads * problem.head_width);
  };
  const ProductHeads queries = factor(q, s.batch * n, problem.heads);
  const ProductHeads keys = factor(k, s.batch * s.keys, problem.key_heads());
  const ProductHeads values = factor(v, s.batch * s.keys, problem.key_heads());
  std::size_t rounds = 0;
  for (Index index = 0; index < lanes; ++index)
    rounds = std::max(rounds, problem.plan(index).rounds.size());
  core::parallel_for(lanes, 1, [&](Index index, Index) {
    const PatternLane lane(problem, index);
    if (lane.zeroed_beforehand()) start_from_zero(lane, out, log_sums + index * n);
  });
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::pair<Index, Index>> tasks;  // lane, block
    for (Index index = 0; index < lanes; ++index) {
      const PatternPlan& plan = problem.plan(index);
      if (round >= plan.rounds.size()) continue;
      // Late blocks read most where attention is causal; they go first to even out the threads.
      for (Index b = plan.rounds[round].blocks; b-- > 0;)
        tasks.emplace_back(index, plan.rounds[round].first_block + b);
    }
    core::parallel_for(Index(tasks.size()), 1, [&](Index t, Index) {
      const auto [index, block] = tasks[std::size_t(t)];
      const PatternLane lane(problem, index);
      run_block(lane, lane.plan.blocks[std::size_t(block)], queries, keys, values, out,
                log_sums + index * n);
    });
  }
}

Cost pattern_cost(const PatternProblem& problem) {
  const Sequences& s = problem.sequences;
  const Index product = 2 * problem.head_width;
  // Values are gathered by weights, under entmax by slopes too, and for a learned alpha once more.
  const Index gathers = 1 + !problem.entmax.empty() + problem.learns_alpha;
  Cost cost;
  for (Index index = 0; index < s.batch * problem.heads; ++index) {
    const PatternLane lane(problem, index);
    RelativeTile relative(lane);
    for (const PatternPlan::Block& block : lane.plan.blocks) {
      const Index labelled = LabelBlock(lane, block).product_flops();
      cost.flops += labelled;
      cost.backward_flops += 3 * labelled;
      for (Index p = block.first_panel; p < block.first_panel + block.panels; ++p) {
        const PatternPlan::Panel& panel = lane.plan.panels[std::size_t(p)];
        if (relative.present())
          add_relative_cost(relative, block, panel, *problem.relative, gathers, cost);
        const Index real = lane.real_columns(panel);
        for (Index r = panel.first_row; r < panel.first_row + panel.rows; ++r)
          for_each_stretch(
              lane.plan, block.first_row + r, panel, real,
              [&](Index a, Index b) { cost.scored_pairs += b - a; }, [](Index, Index) {});
      }
    }
    // Entmax may run a product for some rows of a panel and take the values of others one by one.
    const Index alone = problem.entmax.empty() ? 0 : lane.plan.area / sparse_gain;
    cost.flops += product * (lane.plan.area + gathers * (lane.plan.area + alone));
    cost.backward_flops += 5 * product * lane.plan.area;
  }
  const Index rows = s.batch * s.queries * problem.heads;
  const Index kept = problem.head_width * (1 + problem.learns_alpha) + 1;
  cost.saved_bytes = rows * kept * Index(sizeof(Real));
  return cost;
}

}  // namespace weft::layers
