#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/pattern/lane.h"

namespace weft::layers {
namespace {

/// Everything that the backward sweep reads.
struct Saved {
  ConstHeads q, k, v, out, dout;
  const Real* log_sums;
};

/// Probabilities and score gradients of one tile, made again.
class Tile {
 public:
  Tile() : scratch_({2 * most_rows, key_tile}) {
    p_ = scratch_.write().data();
    ds_ = p_ + most_rows * key_tile;
  }

  /// `log_sums` and `delta` hold one number for each row of the block.
  void make(const Lane& lane, const PatternPlan::Block& block, const PatternPlan::Panel& panel,
            const core::ConstMatrix& q, const core::ConstMatrix& k, const core::ConstMatrix& v,
            const core::ConstMatrix& dout, const Real* log_sums, const Real* delta) {
    probabilities = {p_, block.queries, panel.columns, panel.columns};
    gradients = {ds_, block.queries, panel.columns, panel.columns};
    core::gemm(lane.problem.scale, q, core::transposed(k), 0, probabilities);
    core::gemm(1, dout, core::transposed(v), 0, gradients);
    const Index real = lane.real_columns(panel);
    const Real scale = lane.problem.scale;
    for (Index r = 0; r < block.queries; ++r) {
      Real *p = p_ + r * panel.columns, *ds = ds_ + r * panel.columns;
      for_each_stretch(
          lane.plan, block.first_row + r, panel, real,
          [&](Index a, Index b) {
            core::simd().exp_sum(p + a, 1, log_sums[r * block.step], b - a);
            core::simd().score_gradient(p + a, ds + a, delta[r], scale, b - a);
          },
          [&](Index a, Index b) {
            std::fill(p + a, p + b, Real(0));
            std::fill(ds + a, ds + b, Real(0));
          });
    }
  }

  core::Matrix probabilities{}, gradients{};

 private:
  core::Tensor scratch_;
  Real *p_, *ds_;
};

/// A [keys, D] matrix that key gradients are added to: the lane's own columns of the result, or a
/// partial sum of some of its blocks.
struct KeySum {
  Real* data;
  Index stride;

  /// rows of the panel += a^T b
  void add(const PatternPlan& plan, const PatternPlan::Panel& panel, const core::ConstMatrix& a,
           const core::ConstMatrix& b, core::Tensor& scratch) const {
    if (panel.list < 0) {
      core::gemm(1, core::transposed(a), b, 1,
                 {data + panel.first_key * stride, panel.columns, b.cols, panel.step * stride});
      return;
    }
    Real* sums = scratch.write().data();
    core::gemm(1, core::transposed(a), b, 0, {sums, panel.columns, b.cols, b.cols});
    for (Index c = 0; c < panel.columns; ++c)
      core::simd().axpy(1, sums + c * b.cols,
                        data + plan.gathered[std::size_t(panel.list + c)] * stride, b.cols);
  }
};

/// One block of queries: five products a panel, all gradients at once.
void sweep_block(const Lane& lane, const PatternPlan::Block& block, const Saved& saved, Heads dq,
                 const KeySum& dk, const KeySum& dv, Tile& tile) {
  const Index width = lane.problem.head_width;
  const auto rows_of = [&](ConstHeads x) {
    return lane.queries(x, block.first_query, block.queries, block.step);
  };
  const auto q = rows_of(saved.q), out = rows_of(saved.out), dout = rows_of(saved.dout);
  const core::Matrix dq_rows = lane.queries(dq, block.first_query, block.queries, block.step);
  if (!lane.plan.starts_from_zero) set_zero(dq_rows);
  Real delta[most_rows];
  for (Index r = 0; r < block.queries; ++r)
    delta[r] = core::simd().dot(dout.data + r * dout.stride, out.data + r * out.stride, width);
  const Real* log_sums =
      saved.log_sums +
      (lane.batch * lane.problem.heads + lane.head) * lane.problem.sequences.queries +
      block.first_query;
  PanelRows keys(width), values(width);
  core::Tensor scratch({key_tile, width});
  for (Index p = block.first_panel; p < block.first_panel + block.panels; ++p) {
    const PatternPlan::Panel& panel = lane.plan.panels[std::size_t(p)];
    const auto k = keys.read(lane, panel, saved.k), v = values.read(lane, panel, saved.v);
    tile.make(lane, block, panel, q, k, v, dout, log_sums, delta);
    dv.add(lane.plan, panel, tile.probabilities, dout, scratch);
    dk.add(lane.plan, panel, tile.gradients, q, scratch);
    core::gemm(1, tile.gradients, k, 1, dq_rows);
  }
}

/// Blocks of a lane are dealt out to so many tasks, each with its own sum of key gradients, that
/// there are at least eight tasks. It depends on the shape alone, so results do not depend on the
/// number of threads.
Index shares_of(Index lanes) { return std::max<Index>(1, 8 / lanes); }

void add_rows(const core::Tensor& partial, const core::Matrix& to) {
  for (Index r = 0; r < to.rows; ++r)
    core::simd().axpy(1, partial.data() + r * to.cols, to.data + r * to.stride, to.cols);
}

}  // namespace

void pattern_backward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                      ConstHeads out, const Real* log_sums, ConstHeads dout, Heads dq, Heads dk,
                      Heads dv) {
  const Saved saved{q, k, v, out, dout, log_sums};
  const Sequences& s = problem.sequences;
  const Index lanes = s.batch * problem.heads, shares = shares_of(lanes);
  // Share 0 adds to the result itself, the others to arrays of their own: [keys, D].
  std::vector<core::Tensor> partial_dk, partial_dv;
  for (Index i = 0; i < lanes * (shares - 1); ++i) {
    partial_dk.emplace_back(core::Shape{s.keys, problem.head_width}, Real(0));
    partial_dv.emplace_back(core::Shape{s.keys, problem.head_width}, Real(0));
  }
  std::vector<Real*> dk_data, dv_data;
  for (std::size_t i = 0; i < partial_dk.size(); ++i) {
    dk_data.push_back(partial_dk[i].write().data());
    dv_data.push_back(partial_dv[i].write().data());
  }
  core::parallel_for(lanes, 1, [&](Index index, Index) {
    const Lane lane(problem, index);
    set_zero(lane.keys(dk, 0, s.keys, 1));
    set_zero(lane.keys(dv, 0, s.keys, 1));
    if (lane.plan.starts_from_zero) set_zero(lane.queries(dq, 0, s.queries, 1));
  });
  std::size_t passes = 0;
  for (Index head = 0; head < problem.heads; ++head)
    passes = std::max(passes, problem.plan(head).passes.size());
  for (std::size_t pass = 0; pass < passes; ++pass)
    core::parallel_for(lanes * shares, 1, [&](Index task, Index) {
      const Lane lane(problem, task / shares);
      if (pass >= lane.plan.passes.size()) return;
      const Index share = task % shares;
      const auto own = std::size_t(task / shares * (shares - 1) + share - 1);
      const auto sum_of = [&](Heads result, const std::vector<Real*>& partial) {
        const core::Matrix m = lane.keys(result, 0, s.keys, 1);
        return share == 0 ? KeySum{m.data, m.stride} : KeySum{partial[own], problem.head_width};
      };
      const KeySum dk_sum = sum_of(dk, dk_data), dv_sum = sum_of(dv, dv_data);
      Tile tile;
      const PatternPlan::Pass& blocks = lane.plan.passes[pass];
      for (Index b = share; b < blocks.blocks; b += shares)
        sweep_block(lane, lane.plan.blocks[std::size_t(blocks.first_block + b)], saved, dq, dk_sum,
                    dv_sum, tile);
    });
  if (shares == 1) return;
  core::parallel_for(lanes, 1, [&](Index index, Index) {
    const Lane lane(problem, index);
    for (Index i = index * (shares - 1); i < (index + 1) * (shares - 1); ++i) {
      add_rows(partial_dk[std::size_t(i)], lane.keys(dk, 0, s.keys, 1));
      add_rows(partial_dv[std::size_t(i)], lane.keys(dv, 0, s.keys, 1));
    }
  });
}

}  // namespace weft::layers
