#include "layers/attention/partition/edge_scores.h"

#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {

PackedKeys::PackedKeys(const PartitionProblem& problem, const PartitionInputs& in)
    : keys_({problem.lanes(), problem.sequences.keys, problem.head_width}), values_(keys_.shape()) {
  constexpr Index rows_per_task = 256;
  const Index rows = problem.sequences.keys, width = problem.head_width;
  const Index pieces = (rows + rows_per_task - 1) / rows_per_task;
  Real *const k = keys_.write().data(), *const v = values_.write().data();
  core::parallel_for(problem.lanes() * pieces, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / pieces);
    const Index first = task % pieces * rows_per_task;
    for (Index r = first; r < std::min(rows, first + rows_per_task); ++r) {
      std::copy_n(lane.keys(in.k).row(r), width, k + (lane.index * rows + r) * width);
      std::copy_n(lane.keys(in.v).row(r), width, v + (lane.index * rows + r) * width);
    }
  });
}

EdgeScores::EdgeScores(const PartitionProblem& problem, const PartitionInputs& in,
                       const PackedKeys& packed, const HeadLane& lane)
    : problem_(problem),
      edges_(problem.edges_of(lane)),
      q_(lane.queries(in.q)),
      k_(packed.keys(lane)),
      table_{in.table, problem.labels, problem.head_width, problem.head_width},
      by_label_({EdgeList::most_tokens, problem.labels}),
      scores_({edges_.most()}),
      by_label_data_(by_label_.write().data()),
      scores_data_(scores_.write().data()) {}

void EdgeScores::enter(Interval tokens) {
  first_ = tokens.begin;
  const Index count = tokens.end - tokens.begin;
  if (count > 0)
    core::gemm(problem_.scale, core::ConstMatrix{q_.row(first_), count, q_.cols, q_.stride},
               core::transposed(table_), 0, {by_label_data_, count, table_.rows, table_.rows});
}

Real* EdgeScores::of(Index node) {
  keys_.clear();
  labels_.clear();
  for (const LabelRun& run : edges_.runs(node))
    for (Index x = 0; x < run.end - run.begin; ++x) {
      keys_.push_back(std::int32_t(run.begin + x));
      if (run.first != EdgeList::no_label)
        labels_.push_back(run.first + run.step * std::int32_t(x));
    }
  core::simd().dots(q_.row(node), k_.data, k_.stride, keys(), scores_data_, count(), q_.cols);
  core::simd().scale(problem_.scale, scores_data_, count());
  const Real* const by_label = by_label_data_ + (labels_.empty() ? 0 : node - first_) * table_.rows;
  for (std::size_t e = 0; e < labels_.size(); ++e) scores_data_[e] += by_label[labels_[e]];
  return scores_data_;
}

}  // namespace weft::layers
