#pragma once

#include <algorithm>
#include <limits>

#include "core/arrays/tensor.h"
#include "layers/attention/contract/lane.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// A lane and the plan of its head.
struct PatternLane : HeadLane {
  const PatternProblem& problem;
  const PatternPlan& plan;

  PatternLane(const PatternProblem& p, Index lane)
      : HeadLane(p.sequences, p.heads, p.key_heads(), p.head_width, lane),
        problem(p),
        plan(p.plan(lane)) {}

  /// Some query is in more rounds than one, in none, or past the plan's: what is added up for
  /// queries is zeroed before the first block, not by the blocks.
  bool zeroed_beforehand() const {
    return plan.zeroed_beforehand || plan.queries < problem.sequences.queries;
  }

  /// How many of a panel's columns are real keys, not padding.
  Index real_columns(const PatternPlan::Panel& panel) const {
    if (panel.list < 0) {
      const Index within = real_keys - panel.first_key;
      return std::clamp<Index>((within + panel.step - 1) / panel.step, 0, panel.columns);
    }
    const auto first = plan.gathered.begin() + panel.list;
    return std::lower_bound(first, first + panel.columns, real_keys) - first;
  }

  /// The log-sum of a row that has read nothing yet: its sink alone, if there is one.
  Real empty_level() const {
    return problem.sinks ? problem.sinks[head] : -std::numeric_limits<Real>::infinity();
  }

  /// Adds to a tile of scores what has decayed between each key and each query.
  void add_decay(const PatternPlan::Block& block, const PatternPlan::Panel& panel,
                 const core::Matrix& scores) const {
    if (!problem.decay) return;
    const double* sums = problem.decay->of(index);
    for (Index r = 0; r < panel.rows; ++r) {
      const double own = sums[block.first_query + (panel.first_row + r) * block.step];
      Real* row = scores.row(r);
      for (Index c = 0; c < panel.columns; ++c) row[c] += Real(own - sums[panel.first_key + c]);
    }
  }

  /// The soft edge of a query's row in a panel of consecutive keys.
  SoftRow soft_row(Index query, const PatternPlan::Panel& panel) const {
    return {*problem.edge, batch * problem.sequences.queries + query, head,
            query + problem.shift() - 1 - panel.first_key};
  }
};

/// The keys (or values) of a panel as a matrix: in place, or a copy when scattered.
class PanelRows {
 public:
  explicit PanelRows(Index width) : copy_({PatternPlan::key_tile, width}) {}

  core::Operand read(const PatternLane& lane, const PatternPlan::Panel& panel,
                     const ProductHeads& x) {
    if (panel.list < 0) return lane.keys(x, panel.first_key, panel.columns, panel.step);
    Real* to = copy_.write().data();
    const Index width = copy_.shape()[1];
    const bool rounded = lane.keys(x, 0, 1).rounded;
    const auto copy_rows = [&](auto* copy, const auto& row_at) {
      for (Index c = 0; c < panel.columns; ++c)
        std::copy_n(row_at(lane.keys(x, lane.plan.gathered[std::size_t(panel.list + c)], 1)), width,
                    copy + c * width);
    };
    if (!rounded) {
      copy_rows(to, [](const core::Operand& row) { return row.matrix.data; });
      return core::ConstMatrix{to, panel.columns, width, width};
    }
    auto* halves = reinterpret_cast<core::Bf16*>(to);
    copy_rows(halves, [](const core::Operand& row) { return row.rounded; });
    return core::Bf16Matrix{halves, panel.columns, width, width};
  }

  core::ConstMatrix read(const PatternLane& lane, const PatternPlan::Panel& panel, ConstHeads x) {
    if (panel.list < 0) return lane.keys(x, panel.first_key, panel.columns, panel.step);
    Real* to = copy_.write().data();
    for (Index c = 0; c < panel.columns; ++c) {
      const auto row = lane.keys(x, lane.plan.gathered[std::size_t(panel.list + c)], 1);
      std::copy_n(row.data, row.cols, to + c * row.cols);
    }
    const Index width = copy_.shape()[1];
    return {to, panel.columns, width, width};
  }

 private:
  core::Tensor copy_;
};

/// The rows of a block's matrix that a panel has.
template <class M>
M rows_of(const M& m, const PatternPlan::Panel& panel) {
  return {m.data + panel.first_row * m.stride, panel.rows, m.cols, m.stride};
}

inline core::Operand rows_of(const core::Operand& m, const PatternPlan::Panel& panel) {
  return core::row_panel(m, panel.first_row, panel.rows);
}

inline void set_zero(const core::Matrix& m) {
  for (Index r = 0; r < m.rows; ++r) std::fill_n(m.row(r), m.cols, Real(0));
}

/// Calls body(begin, end), in the panel's own columns, for each stretch of the panel that a row
/// reads, and gap(begin, end) for the stretches between.
template <class Body, class Gap>
void for_each_stretch(const PatternPlan& plan, Index row, const PatternPlan::Panel& panel,
                      Index real_columns, const Body& body, const Gap& gap) {
  Index done = 0;
  for (Index k = plan.rows[std::size_t(row)]; k < plan.rows[std::size_t(row) + 1]; ++k) {
    const Interval& range = plan.ranges[std::size_t(k)];
    const Index begin = std::max(range.begin - panel.first_column, done);
    const Index end = std::min(range.end - panel.first_column, real_columns);
    if (begin >= end) continue;
    if (begin > done) gap(done, begin);
    body(begin, end);
    done = end;
  }
  if (done < panel.columns) gap(done, panel.columns);
}

}  // namespace weft::layers
