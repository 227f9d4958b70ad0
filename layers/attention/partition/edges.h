#pragma once

#include <span>
#include <vector>

#include "layers/attention/contract/layout_cache.h"
#include "layers/attention/partition/graph.h"

namespace weft::layers {

/// What every node of a sequence reads, as runs of consecutive nodes with labels.
class EdgeList {
 public:
  /// Nodes that read near one another: some tokens and the spans inside them, or a larger span.
  struct Group {
    Interval tokens{0, 0};  ///< `most_tokens` at most
    std::vector<Interval> spans;
    Index edges_before = 0;  ///< of the groups before it
  };
  static constexpr Index most_tokens = 64;

  explicit EdgeList(const PartitionGraph& graph);

  Index tokens() const { return tokens_; }
  Index nodes() const { return Index(first_run_.size()) - 1; }
  const std::vector<Group>& groups() const { return groups_; }
  /// In the order of nodes, apart from each other. Labels are `no_label` where all that the node
  /// reads has the same one, which cancels in its softmax: those of spans at least.
  std::span<const LabelRun> runs(Index node) const {
    const auto i = std::size_t(node);
    return std::span(runs_).subspan(std::size_t(first_run_[i]),
                                    std::size_t(first_run_[i + 1] - first_run_[i]));
  }
  static constexpr std::int32_t no_label = -1;

  /// Edges of all nodes together, and the most that one has.
  Index count() const { return count_; }
  Index most() const { return most_; }
  /// The groups of part `part` of `parts`, which have about as many edges each.
  std::span<const Group> part(Index part, Index parts) const;

  /// Numbers that it keeps.
  std::size_t weight() const { return 2 * runs_.size() + 2 * first_run_.size(); }

 private:
  void add_group(Group group);

  Index tokens_, count_ = 0, most_ = 0;
  std::vector<LabelRun> runs_;
  std::vector<Index> first_run_;  ///< by node, and one more
  std::vector<Group> groups_;
};

inline std::size_t weight_of(const std::shared_ptr<const EdgeList>& edges) {
  return edges->weight();
}
using EdgeCache = LayoutCache<std::shared_ptr<const EdgeList>, weight_of>;

}  // namespace weft::layers
