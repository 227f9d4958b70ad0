#include "layers/attention/pattern/label_block.h"

#include "core/simd/kernels.h"

namespace weft::layers {

LabelBlock::LabelBlock(const PatternLane& lane, const PatternPlan::Block& block)
    : lane_(lane), block_(block) {
  const RelativeTerms* terms = lane.problem.relative.get();
  if (!terms || !terms->by_interval()) return;
  first_ = block.labels.begin;
  count_ = block.labels.end - block.labels.begin;
}

core::ConstMatrix LabelBlock::keys() const {
  const RelativeTable& table = lane_.problem.relative->keys;
  return {table.data + first_ * table.stride + lane_.head * table.head_step, count_,
          lane_.problem.head_width, table.stride};
}

void LabelBlock::score(const core::ConstMatrix& queries) {
  scores_ = core::Tensor({block_.queries, count_});
  Real* const z = scores_.write().data();
  core::gemm(lane_.problem.scale, queries, core::transposed(keys()), 0,
             {z, block_.queries, count_, count_});
  const RelativeTerms& terms = *lane_.problem.relative;
  if (!terms.bias) return;
  const Real* bias = terms.bias + lane_.head * terms.labels + first_;
  for (Index r = 0; r < block_.queries; ++r)
    core::simd().add(z + r * count_, bias, z + r * count_, count_);
}

template <class Body>
void LabelBlock::for_each_run(const PatternPlan::Panel& panel, const Body& body) const {
  const PatternPlan& plan = lane_.plan;
  const Index end = panel.first_column + panel.columns;
  for (Index r = 0; r < panel.rows; ++r) {
    const auto row = std::size_t(block_.first_row + panel.first_row + r);
    for (Index i = plan.label_rows[row]; i < plan.label_rows[row + 1]; ++i) {
      const LabelRun& run = plan.label_runs[std::size_t(i)];
      const Index a = std::max(run.begin, panel.first_column), b = std::min(run.end, end);
      if (a < b)
        body(r, a - panel.first_column, b - a, run.first + run.step * (a - run.begin) - first_,
             Index(run.step));
    }
  }
}

void LabelBlock::add_scores(const PatternPlan::Panel& panel, const core::Matrix& scores) const {
  const Real* const z = scores_.data();
  for_each_run(panel, [&](Index r, Index column, Index columns, Index label, Index step) {
    Real* const to = scores.row(r) + column;
    const Real* const from = z + (panel.first_row + r) * count_ + label;
    if (step == 1)
      core::simd().add(to, from, to, columns);
    else if (step == 0)
      for (Index c = 0; c < columns; ++c) to[c] += from[0];
    else
      for (Index c = 0; c < columns; ++c) to[c] += from[c * step];
  });
}

void LabelBlock::pull_back_scores(const PatternPlan::Panel& panel, const core::ConstMatrix& ds) {
  if (gradients_.size() == 0) gradients_ = core::Tensor({block_.queries, count_}, Real(0));
  Real* const dz = gradients_.write().data();
  for_each_run(panel, [&](Index r, Index column, Index columns, Index label, Index step) {
    const Real* const from = ds.row(r) + column;
    Real* const to = dz + (panel.first_row + r) * count_ + label;
    if (step == 1)
      core::simd().add(to, from, to, columns);
    else if (step == 0)
      to[0] += core::simd().sum(from, columns);
    else
      for (Index c = 0; c < columns; ++c) to[c * step] += from[c];
  });
}

void LabelBlock::pull_back(const core::ConstMatrix& queries, const core::Matrix& dqueries,
                           const RelativeSums& sums) {
  const Real scale = lane_.problem.scale;
  const core::ConstMatrix dz{gradients_.data(), block_.queries, count_, count_};
  core::gemm(scale, dz, keys(), 1, dqueries);
  core::gemm(scale, core::transposed(dz), queries, 1,
             {sums.keys + first_ * queries.cols, count_, queries.cols, queries.cols});
  if (!sums.bias || !lane_.problem.relative->bias) return;
  for (Index r = 0; r < dz.rows; ++r)
    core::simd().add(sums.bias + first_, dz.row(r), sums.bias + first_, count_);
}

}  // namespace weft::layers
