#include "core/arrays/scratch.h"
#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/partition/edge_scores.h"
#include "layers/attention/pattern/lane.h"
#include "layers/attention/pattern/shares.h"

namespace weft::layers {
namespace {

constexpr Index rows_per_task = 256;

/// Where one task adds up what keys and the table gain, without gaps.
struct KeyTargets {
  core::Matrix dk, dv;
  Real* dtable;
};

/// The gradients of some nodes of a lane, and what their keys gain from them.
class PullBack {
 public:
  PullBack(const PartitionProblem& problem, const PartitionInputs& in, const PackedKeys& packed,
           const HeadLane& lane, const KeyTargets& to)
      : problem_(problem),
        q_(lane.queries(in.q)),
        k_(packed.keys(lane)),
        v_(packed.values(lane)),
        table_{in.table, problem.labels, problem.head_width, problem.head_width},
        to_(to),
        scores_(problem, in, packed, lane),
        scratch_(problem.edges_of(lane).most() + EdgeList::most_tokens * problem.labels) {
    ds_ = scratch_.take(problem.edges_of(lane).most());
    by_label_ = scratch_.take(EdgeList::most_tokens * problem.labels);
  }

  void run(std::span<const EdgeList::Group> groups, const core::ConstMatrix& out,
           const core::ConstMatrix& dout, const Real* log_sums, const core::Matrix& dq) {
    for (const EdgeList::Group& group : groups) {
      const Interval tokens = group.tokens;
      scores_.enter(tokens);
      std::fill_n(by_label_, (tokens.end - tokens.begin) * problem_.labels, Real(0));
      for_each_node(group, [&](Index node) {
        pull_back(node, tokens.begin, out.row(node), dout.row(node), log_sums[node], dq.row(node));
      });
      pull_back_labels(tokens.begin, tokens.end - tokens.begin, dq);
    }
    core::counters().flops.fetch_add(10 * pairs_ * problem_.head_width, std::memory_order_relaxed);
  }

 private:
  void pull_back(Index node, Index first_token, const Real* out, const Real* dout, Real log_sum,
                 Real* dq) {
    const Index width = problem_.head_width;
    Real* const p = scores_.of(node);
    const Index count = scores_.count();
    const std::int32_t* const keys = scores_.keys();
    core::simd().exp_sum(p, 1, log_sum, count);
    core::simd().dots(dout, v_.data, v_.stride, keys, ds_, count, width);
    core::simd().score_gradient(p, ds_, core::simd().dot(dout, out, width), problem_.scale, count);
    std::fill_n(dq, width, Real(0));
    core::simd().add_rows(ds_, k_.data, k_.stride, keys, dq, count, width);
    core::simd().add_outer(ds_, q_.row(node), to_.dk.data, to_.dk.stride, keys, count, width);
    core::simd().add_outer(p, dout, to_.dv.data, to_.dv.stride, keys, count, width);
    const std::vector<std::int32_t>& labels = scores_.labels();
    Real* const by_label = by_label_ + (labels.empty() ? 0 : node - first_token) * problem_.labels;
    for (std::size_t e = 0; e < labels.size(); ++e) by_label[labels[e]] += ds_[e];
    pairs_ += count;
  }

  void pull_back_labels(Index first, Index count, const core::Matrix& dq) {
    if (count == 0) return;
    const core::ConstMatrix ds{by_label_, count, problem_.labels, problem_.labels};
    core::gemm(1, ds, table_, 1, {dq.row(first), count, dq.cols, dq.stride});
    core::gemm(1, core::transposed(ds), core::ConstMatrix{q_.row(first), count, q_.cols, q_.stride},
               1, {to_.dtable, table_.rows, table_.cols, table_.stride});
  }

  const PartitionProblem& problem_;
  core::ConstMatrix q_, k_, v_, table_;
  KeyTargets to_;
  EdgeScores scores_;
  core::Scratch scratch_;
  Real *ds_, *by_label_;
  Index pairs_ = 0;
};

/// What the shares of all lanes add up for keys and table.
class ShareSums {
 public:
  ShareSums(const PartitionProblem& problem, Index shares) : problem_(problem), shares_(shares) {
    const Index rows = problem.sequences.keys, width = problem.head_width;
    for (Index task = 0; task < problem.lanes() * shares; ++task) {
      keys_.emplace_back(core::Shape{2 * rows, width});
      tables_.emplace_back(core::Shape{problem.labels, width}, Real(0));
      keys_data_.push_back(keys_.back().write().data());
      tables_data_.push_back(tables_.back().write().data());
    }
  }

  /// Those of a task, zeroed.
  KeyTargets of(Index task) const {
    const Index rows = problem_.sequences.keys, width = problem_.head_width;
    Real* const own = keys_data_[std::size_t(task)];
    std::fill_n(own, 2 * rows * width, Real(0));
    return {{own, rows, width, width},
            {own + rows * width, rows, width, width},
            tables_data_[std::size_t(task)]};
  }

  /// Adds the shares in their order.
  void write(const PartitionGradients& to) const {
    const Index rows = problem_.sequences.keys, width = problem_.head_width;
    const Index pieces = (rows + rows_per_task - 1) / rows_per_task;
    core::parallel_for(problem_.lanes() * pieces, 1, [&](Index task, Index) {
      const HeadLane lane = problem_.lane(task / pieces);
      const Index first = task % pieces * rows_per_task;
      for (Index r = first; r < std::min(rows, first + rows_per_task); ++r) {
        sum_row(lane.index, r, lane.keys(to.k).row(r));
        sum_row(lane.index, rows + r, lane.keys(to.v).row(r));
      }
    });
    std::fill_n(to.table, problem_.labels * width, Real(0));
    for (const Real* own : tables_data_)
      core::simd().add(to.table, own, to.table, problem_.labels * width);
  }

 private:
  void sum_row(Index lane, Index row, Real* to) const {
    const Index width = problem_.head_width;
    for (Index share = 0; share < shares_; ++share) {
      const Real* const own = keys_data_[std::size_t(lane * shares_ + share)] + row * width;
      if (share == 0)
        std::copy_n(own, width, to);
      else
        core::simd().add(to, own, to, width);
    }
  }

  const PartitionProblem& problem_;
  Index shares_;
  std::vector<Tensor> keys_, tables_;  ///< of each task: [2 n, D] and [labels, D]
  std::vector<Real*> keys_data_, tables_data_;
};

}  // namespace

void partition_backward(const PartitionProblem& problem, const PartitionInputs& in, ConstHeads out,
                        ConstHeads dout, const Real* log_sums, const PartitionGradients& to) {
  const Index n = problem.sequences.queries, shares = shares_of(problem.lanes());
  const PackedKeys packed(problem, in);
  const ShareSums sums(problem, shares);
  core::parallel_for(problem.lanes() * shares, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / shares);
    const Index share = task % shares;
    const EdgeList& edges = problem.edges_of(lane);
    if (share == 0) set_zero(lane.queries(to.q, edges.nodes(), n - edges.nodes()));
    PullBack(problem, in, packed, lane, sums.of(task))
        .run(edges.part(share, shares), lane.queries(out), lane.queries(dout),
             log_sums + lane.index * n, lane.queries(to.q));
  });
  sums.write(to);
}

}  // namespace weft::layers
