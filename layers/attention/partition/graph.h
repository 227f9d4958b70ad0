#pragma once

#include <algorithm>

#include "layers/attention/contract/key_labels.h"
#include "layers/attention/partition/tree.h"

namespace weft::layers {

/// How edges are labelled: a token's edge to itself and a span's to its tokens 0, the r-th to the
/// left 2 r + 1, the r-th to the right 2 r + 2, all plus 2 fan + 1 for each level, of which those
/// from `clip` on are alike.
struct EdgeLabels {
  Index fan = 4, clip = 6;

  Index count() const { return (2 * fan + 1) * (clip + 1); }
  std::int32_t first(Index level) const {
    return std::int32_t((2 * fan + 1) * std::min(level, clip));
  }
  std::int32_t left(Index level, Index step) const {
    return first(level) + std::int32_t(2 * step + 1);
  }
  std::int32_t right(Index level, Index step) const {
    return first(level) + std::int32_t(2 * step + 2);
  }
};

/// The graph of BP-Transformer over the nodes of a partition: a span reads its tokens; a token
/// reads itself, the walk to its left and, unless causal, the walk to its right.
class PartitionGraph final : public KeyLabels {
 public:
  PartitionGraph(Index tokens, const EdgeLabels& labels, bool causal)
      : tree_(tokens), labels_(labels), causal_(causal) {}

  void of(Index query, std::vector<LabelRun>& out) const override;

  const PartitionTree& tree() const { return tree_; }

 private:
  PartitionTree tree_;
  EdgeLabels labels_;
  bool causal_;
};

}  // namespace weft::layers
