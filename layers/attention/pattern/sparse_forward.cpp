#include <cmath>
#include <limits>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/pattern/relative_tile.h"

namespace weft::layers {
namespace {

/// The scores of some rows, each row's in one stretch, in the order in which the plan's panels
/// bring them.
class RowScores {
 public:
  explicit RowScores(Index rows) : first_(std::size_t(rows) + 1, 0), next_(std::size_t(rows)) {}

  void count(Index row, Index pairs) { first_[std::size_t(row) + 1] += pairs; }
  /// Makes room for what was counted.
  void allocate() {
    for (std::size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
    scores_ = core::Tensor({std::max<Index>(1, first_.back())});
    data_ = scores_.write().data();
    rewind();
  }
  void rewind() { std::copy(first_.begin(), first_.end() - 1, next_.begin()); }
  /// The next `pairs` scores of a row.
  Real* take(Index row, Index pairs) {
    Real* const at = data_ + next_[std::size_t(row)];
    next_[std::size_t(row)] += pairs;
    return at;
  }

  Index rows() const { return Index(next_.size()); }
  Index size(Index row) const { return first_[std::size_t(row) + 1] - first_[std::size_t(row)]; }
  Index total() const { return first_.back(); }
  Real* row(Index r) { return data_ + first_[std::size_t(r)]; }

 private:
  std::vector<Index> first_, next_;
  core::Tensor scores_;
  Real* data_ = nullptr;
};

/// Rows of one lane and the blocks that hold all their keys: a strip of a single block, or the
/// whole lane where rows are in several rounds.
struct Group {
  Index lane, first_block, blocks;
  Index first_row, rows;  ///< of the block
};

/// Rows whose scores are kept at a time.
constexpr Index strip = 32;

/// What the derivatives of a row need of all its weights.
struct RowSums {
  Real slopes = 0, entropy = 0;
};

/// One group: score, find thresholds, gather values.
class Sweep {
 public:
  Sweep(const PatternProblem& problem, const Group& group, Heads out, const PatternTrace& trace)
      : lane_(problem, group.lane),
        group_(group),
        entmax_(problem.entmax[std::size_t(lane_.head)]),
        out_(out),
        trace_(trace),
        whole_(group.blocks > 1),
        scores_(whole_ ? problem.sequences.queries : group.rows),
        sums_(std::size_t(scores_.rows())),
        relative_(lane_),
        tile_({PatternPlan::most_rows, PatternPlan::key_tile}) {}

  void run(ConstHeads q, ConstHeads k, ConstHeads v) {
    for_each_panel([&](const PatternPlan::Block& block, const PatternPlan::Panel& panel) {
      for_each_stretch_of(block, panel, [&](Index, Index row, Index begin, Index end) {
        scores_.count(row, end - begin);
      });
    });
    scores_.allocate();
    core::counters().scored_pairs.fetch_add(scores_.total(), std::memory_order_relaxed);
    for_each_panel([&](const PatternPlan::Block& block, const PatternPlan::Panel& panel) {
      score(block, panel, q, k);
    });
    weigh();
    scores_.rewind();
    for_each_panel([&](const PatternPlan::Block& block, const PatternPlan::Panel& panel) {
      gather(block, panel, v);
    });
  }

 private:
  const PatternPlan::Block& block(Index i) const {
    return lane_.plan.blocks[std::size_t(group_.first_block + i)];
  }
  /// The place in `scores_` of row r of a block.
  Index row_of(const PatternPlan::Block& block, Index r) const {
    return whole_ ? block.first_query + r * block.step : r - group_.first_row;
  }
  Index query_of(Index row) const {
    return whole_ ? row : block(0).first_query + (group_.first_row + row) * block(0).step;
  }

  /// The panels of the group's blocks, with the rows that the group has.
  template <class Body>
  void for_each_panel(const Body& body) const {
    for (Index b = 0; b < group_.blocks; ++b)
      for (Index p = block(b).first_panel; p < block(b).first_panel + block(b).panels; ++p) {
        PatternPlan::Panel panel = lane_.plan.panels[std::size_t(p)];
        const Index end = panel.first_row + panel.rows;
        panel.first_row = std::max(panel.first_row, group_.first_row);
        panel.rows = std::min(end, group_.first_row + group_.rows) - panel.first_row;
        if (panel.rows > 0) body(block(b), panel);
      }
  }

  /// body(row of the panel, row of the group, begin, end)
  template <class Body>
  void for_each_stretch_of(const PatternPlan::Block& block, const PatternPlan::Panel& panel,
                           const Body& body) const {
    const Index real = lane_.real_columns(panel);
    for (Index r = 0; r < panel.rows; ++r) {
      const Index in_block = panel.first_row + r, row = row_of(block, in_block);
      for_each_stretch(
          lane_.plan, block.first_row + in_block, panel, real,
          [&](Index a, Index b) { body(r, row, a, b); }, [](Index, Index) {});
    }
  }

  void score(const PatternPlan::Block& block, const PatternPlan::Panel& panel, ConstHeads q,
             ConstHeads k) {
    const PatternProblem& problem = lane_.problem;
    PanelRows keys(problem.head_width);
    const core::Matrix s{tile_.write().data(), panel.rows, panel.columns, panel.columns};
    const auto of_panel = [&](ConstHeads x) {
      return rows_of(lane_.queries(x, block.first_query, block.queries, block.step), panel);
    };
    core::gemm(problem.scale, of_panel(q), core::transposed(keys.read(lane_, panel, k)), 0, s);
    if (relative_.present()) {
      relative_.place(block, panel);
      relative_.add_scores(of_panel(problem.relative->queries), s);
    }
    for_each_stretch_of(block, panel, [&](Index r, Index row, Index a, Index b) {
      std::copy_n(s.data + r * s.stride + a, b - a, scores_.take(row, b - a));
    });
  }

  void weigh() {
    const Index n = lane_.problem.sequences.queries;
    Real* const levels = trace_.levels + group_.lane * n;
    std::vector<double> candidates;
    for (Index row = 0; row < scores_.rows(); ++row) {
      Real* const p = scores_.row(row);
      const Index size = scores_.size(row);
      const Real threshold = entmax_.threshold(p, size, candidates);
      levels[query_of(row)] = threshold;
      entmax_.weigh(p, size, threshold);
      RowSums& sums = sums_[std::size_t(row)];
      for (Index i = 0; trace_.slope_mean.data && i < size; ++i)
        if (p[i] > 0) sums.slopes += entmax_.slope(p[i]), sums.entropy -= p[i] * std::log(p[i]);
    }
    const auto clear = [&](Heads x) {
      for (Index row = 0; x.data && row < scores_.rows(); ++row)
        set_zero(lane_.queries(x, query_of(row), 1));
    };
    clear(out_);
    clear(trace_.slope_mean);
    clear(trace_.alpha_slope);
  }

  /// The share of slopes at a weight above 0, and the derivative of the weight by alpha.
  Real share(Real p, const RowSums& sums) const { return entmax_.slope(p) / sums.slopes; }
  Real by_alpha(Real p, const RowSums& sums) const {
    const Real above = Real(entmax_.alpha() - 1), r = share(p, sums);
    return (p - r) / (above * above) + (-p * std::log(p) - r * sums.entropy) / above;
  }

  void gather(const PatternPlan::Block& block, const PatternPlan::Panel& panel, ConstHeads v) {
    const core::Matrix p{tile_.write().data(), panel.rows, panel.columns, panel.columns};
    std::fill_n(p.data, panel.rows * panel.columns, Real(0));
    for_each_stretch_of(block, panel, [&](Index r, Index row, Index a, Index b) {
      std::copy_n(scores_.take(row, b - a), b - a, p.data + r * p.stride + a);
    });
    PanelRows values(lane_.problem.head_width);
    const core::ConstMatrix of_keys = values.read(lane_, panel, v);
    if (relative_.present()) relative_.place(block, panel);
    const auto add = [&](const core::Matrix& weights, Heads to) {
      const core::Matrix sums =
          rows_of(lane_.queries(to, block.first_query, block.queries, block.step), panel);
      if (relative_.present()) relative_.add_values(weights, sums);
      add_product(weights, of_keys, sums);
    };
    if (trace_.slope_mean.data) add(mapped(block, panel, p, &Sweep::share), trace_.slope_mean);
    if (trace_.alpha_slope.data) add(mapped(block, panel, p, &Sweep::by_alpha), trace_.alpha_slope);
    add(p, out_);
  }

  /// f of every weight above 0, in an array of its own.
  core::Matrix mapped(const PatternPlan::Block& block, const PatternPlan::Panel& panel,
                      const core::Matrix& p, Real (Sweep::*f)(Real, const RowSums&) const) {
    if (mapped_.size() == 0)
      mapped_ = core::Tensor({PatternPlan::most_rows, PatternPlan::key_tile});
    Real* const to = mapped_.write().data();
    for (Index r = 0; r < panel.rows; ++r) {
      const RowSums& sums = sums_[std::size_t(row_of(block, panel.first_row + r))];
      for (Index c = 0; c < panel.columns; ++c) {
        const Real weight = p.data[r * p.stride + c];
        to[r * panel.columns + c] = weight > 0 ? (this->*f)(weight, sums) : 0;
      }
    }
    return {to, panel.rows, panel.columns, panel.columns};
  }

  /// out += weights values. A row with few weights takes its values one by one and leaves the
  /// product, which is for the other rows; that is the row's own affair, so that what a later token
  /// holds cannot change how an earlier one is summed. Uses up the weights.
  static void add_product(const core::Matrix& weights, const core::ConstMatrix& values,
                          const core::Matrix& out) {
    Index alone = 0, together = 0;
    for (Index r = 0; r < weights.rows; ++r) {
      Real* const row = weights.row(r);
      const Index support =
          std::count_if(row, row + weights.cols, [](Real weight) { return weight != 0; });
      if (support * sparse_gain > weights.cols) {
        ++together;
        continue;
      }
      alone += support;
      for (Index c = 0; c < weights.cols && support > 0; ++c)
        if (row[c] != 0)
          core::simd().axpy(row[c], values.data + c * values.stride, out.row(r), out.cols);
      std::fill_n(row, weights.cols, Real(0));
    }
    core::counters().flops.fetch_add(2 * alone * out.cols, std::memory_order_relaxed);
    if (together > 0) core::gemm(1, weights, values, 1, out);
  }

  PatternLane lane_;
  Group group_;
  const Entmax& entmax_;
  Heads out_;
  const PatternTrace& trace_;
  bool whole_;
  RowScores scores_;
  std::vector<RowSums> sums_;
  RelativeTile relative_;
  core::Tensor tile_, mapped_;
};

/// A query that no block holds has no keys.
void start_from_zero(const PatternLane& lane, Heads out, const PatternTrace& trace) {
  const Index n = lane.problem.sequences.queries;
  for (const Heads x : {out, trace.slope_mean, trace.alpha_slope})
    if (x.data) set_zero(lane.queries(x));
  std::fill_n(trace.levels + lane.index * n, n, std::numeric_limits<Real>::infinity());
}

}  // namespace

void sparse_pattern_forward(const PatternProblem& problem, ConstHeads q, ConstHeads k, ConstHeads v,
                            Heads out, const PatternTrace& trace) {
  std::vector<Group> groups;
  for (Index index = 0; index < problem.sequences.batch * problem.heads; ++index) {
    const PatternLane lane(problem, index);
    const Index blocks = Index(lane.plan.blocks.size());
    if (lane.zeroed_beforehand()) start_from_zero(lane, out, trace);
    if (lane.plan.rounds.size() > 1)
      groups.push_back({index, 0, blocks, 0, PatternPlan::most_rows});
    else
      for (Index b = blocks; b-- > 0;)
        for (Index row = 0; row < lane.plan.blocks[std::size_t(b)].queries; row += strip)
          groups.push_back(
              {index, b, 1, row, std::min(strip, lane.plan.blocks[std::size_t(b)].queries - row)});
  }
  core::parallel_for(Index(groups.size()), 1, [&](Index g, Index) {
    Sweep(problem, groups[std::size_t(g)], out, trace).run(q, k, v);
  });
}

}  // namespace weft::layers
