#pragma once

#include <numeric>

#include "layers/attention/contract/rows.h"
#include "layers/attention/partition/tree.h"

namespace weft::layers {

/// The nodes of a sequence's binary partition: its tokens, then the spans, which begin as zeros.
/// A node of level l is the position 2^32 l + x of decoding.
class PartitionRows final : public RowRule {
 public:
  using RowRule::layout;
  RowLayout layout(Index tokens) const override {
    const PartitionTree tree(tokens);
    RowLayout rows{.rows = tree.nodes(),
                   .of_tokens = std::vector<Index>(std::size_t(tokens)),
                   .root = tree.nodes() - 1};
    std::iota(rows.of_tokens.begin(), rows.of_tokens.end(), 0);
    return rows;
  }

  /// The spans that end with a token.
  std::vector<Index> completed_by(Index token) const override {
    std::vector<Index> spans;
    for (Index level = 1, end = token + 1; end % 2 == 0; ++level, end /= 2)
      spans.push_back(position(level, end / 2 - 1));
    return spans;
  }

  std::string words() const override { return "the nodes of a binary partition"; }

  static Index position(Index level, Index x) { return level << 32 | x; }
  static Index level_of(Index position) { return position >> 32; }
  static Index index_of(Index position) { return position & ((Index(1) << 32) - 1); }
};

}  // namespace weft::layers
