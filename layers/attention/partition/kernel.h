#pragma once

#include "layers/attention/contract/lane.h"
#include "layers/attention/partition/edges.h"

namespace weft::layers {

/// Attention along the edges of a partition, edge by edge: a node reads so few others, and so
/// scattered ones, that tiles of queries x keys would be nearly empty.
struct PartitionProblem {
  Sequences sequences;
  Index heads, head_width;
  Real scale;
  Index labels;
  /// Of each sequence. What comes after its nodes is padding.
  std::vector<std::shared_ptr<const EdgeList>> edges;

  Index lanes() const { return sequences.batch * heads; }
  HeadLane lane(Index index) const { return {sequences, heads, heads, head_width, index}; }
  const EdgeList& edges_of(const HeadLane& lane) const { return *edges[std::size_t(lane.batch)]; }
};

/// What both passes read.  q, k, v: [B n, H, D], table: [labels, D], the same for all heads
struct PartitionInputs {
  ConstHeads q, k, v;
  const Real* table;
};

/// out_i = sum_j P_ij v_j,  P_i = softmax over the nodes j that i reads of scale q_i . (k_j + a_ij)
/// -> out: [B n, H, D], log_sums: [lanes, n], the logarithm of each row's sum of exp(score).
/// Padding gives 0.
void partition_forward(const PartitionProblem& problem, const PartitionInputs& in, Heads out,
                       Real* log_sums);

/// With dS_ij = scale P_ij (dout_i . v_j - dout_i . out_i), the sums over a label's edges:
///   dq_i = sum_j dS_ij (k_j + a_ij),  dk_j = sum_i dS_ij q_i,  dv_j = sum_i P_ij dout_i,
///   da = sum dS_ij q_i.
/// Weights are made again from the log-sums.  -> dtable: [labels, D]
struct PartitionGradients {
  Heads q, k, v;
  Real* table;
};
void partition_backward(const PartitionProblem& problem, const PartitionInputs& in, ConstHeads out,
                        ConstHeads dout, const Real* log_sums, const PartitionGradients& to);

/// The operations of both, counted without doing it.
Cost partition_cost(const PartitionProblem& problem);

}  // namespace weft::layers
