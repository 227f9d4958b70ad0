#include <cmath>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"
#include "layers/attention/partition/edge_scores.h"
#include "layers/attention/pattern/lane.h"

namespace weft::layers {
namespace {

/// A group of a lane.
void attend(const PartitionProblem& problem, const PartitionInputs& in, const PackedKeys& packed,
            const HeadLane& lane, const EdgeList::Group& group, Heads out, Real* log_sums) {
  const core::ConstMatrix v = packed.values(lane);
  const core::Matrix to = lane.queries(out);
  EdgeScores scores(problem, in, packed, lane);
  scores.enter(group.tokens);
  Index pairs = 0;
  for_each_node(group, [&](Index node) {
    Real* const p = scores.of(node);
    const Index count = scores.count();
    const Real top = core::simd().max(p, count);
    const Real total = core::simd().exp_sum(p, 1, top, count);
    log_sums[node] = top + std::log(total);
    core::simd().scale(1 / total, p, count);
    std::fill_n(to.row(node), to.cols, Real(0));
    core::simd().add_rows(p, v.data, v.stride, scores.keys(), to.row(node), count, v.cols);
    pairs += count;
  });
  core::counters().scored_pairs.fetch_add(pairs, std::memory_order_relaxed);
  core::counters().flops.fetch_add(4 * pairs * problem.head_width, std::memory_order_relaxed);
}

}  // namespace

void partition_forward(const PartitionProblem& problem, const PartitionInputs& in, Heads out,
                       Real* log_sums) {
  const Index n = problem.sequences.queries;
  const PackedKeys packed(problem, in);
  Index most = 0;
  for (const auto& edges : problem.edges) most = std::max(most, Index(edges->groups().size()));
  core::parallel_for(problem.lanes() * most, 1, [&](Index task, Index) {
    const HeadLane lane = problem.lane(task / most);
    const EdgeList& edges = problem.edges_of(lane);
    // The last groups span most and go first, to even out the threads.
    const Index group = most - 1 - task % most;
    if (group == 0) set_zero(lane.queries(out, edges.nodes(), n - edges.nodes()));
    if (group < Index(edges.groups().size()))
      attend(problem, in, packed, lane, edges.groups()[std::size_t(group)], out,
             log_sums + lane.index * n);
  });
}

Cost partition_cost(const PartitionProblem& problem) {
  Cost cost;
  for (const auto& edges : problem.edges) {
    const Index pairs = edges->count() * problem.head_width;
    const Index labelled = 2 * edges->tokens() * problem.labels * problem.head_width;
    cost.scored_pairs += problem.heads * edges->count();
    cost.flops += problem.heads * (4 * pairs + labelled);
    cost.backward_flops += problem.heads * (10 * pairs + 3 * labelled);
  }
  cost.saved_bytes = problem.sequences.batch * problem.sequences.queries * problem.heads *
                     (problem.head_width + 1) * Index(sizeof(Real));
  return cost;
}

}  // namespace weft::layers
