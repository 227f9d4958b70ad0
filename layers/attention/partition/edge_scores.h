#pragma once

#include "layers/attention/partition/kernel.h"

namespace weft::layers {

/// body(node) for each node of a group.
template <class Body>
void for_each_node(const EdgeList::Group& group, const Body& body) {
  for (Index node = group.tokens.begin; node < group.tokens.end; ++node) body(node);
  for (const Interval& nodes : group.spans)
    for (Index node = nodes.begin; node < nodes.end; ++node) body(node);
}

/// The keys and values of all lanes without gaps, since every row is read again and again.
class PackedKeys {
 public:
  PackedKeys(const PartitionProblem& problem, const PartitionInputs& in);

  core::ConstMatrix keys(const HeadLane& lane) const { return rows_of(keys_, lane); }
  core::ConstMatrix values(const HeadLane& lane) const { return rows_of(values_, lane); }

 private:
  static core::ConstMatrix rows_of(const Tensor& x, const HeadLane& lane) {
    const Index rows = x.shape()[1], width = x.shape()[2];
    return {x.data() + lane.index * rows * width, rows, width, width};
  }
  Tensor keys_, values_;  ///< [lanes, n, D]
};

/// The scores of a lane's nodes, group by group.
class EdgeScores {
 public:
  EdgeScores(const PartitionProblem& problem, const PartitionInputs& in, const PackedKeys& packed,
             const HeadLane& lane);

  /// Scores the tokens' queries against the labels.
  void enter(Interval tokens);
  /// The scores of a node of the group, one for each of its edges.
  Real* of(Index node);
  /// Of the same node: how many edges it has, the keys that they lead to, and their labels, none if
  /// they do not count.
  Index count() const { return Index(keys_.size()); }
  const std::int32_t* keys() const { return keys_.data(); }
  const std::vector<std::int32_t>& labels() const { return labels_; }

 private:
  const PartitionProblem& problem_;
  const EdgeList& edges_;
  core::ConstMatrix q_, k_, table_;
  Tensor by_label_, scores_;
  Real *by_label_data_, *scores_data_;
  std::vector<std::int32_t> keys_, labels_;
  Index first_ = 0;
};

}  // namespace weft::layers
