#pragma once

#include <vector>

#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// The binary partition of a sequence: level 0 holds its tokens, each further level half as many
/// nodes, rounded up, until one is left, the root. Node x of level l spans the tokens
/// x 2^l .. (x + 1) 2^l - 1, as far as there are any. Nodes are numbered level by level.
class PartitionTree {
 public:
  explicit PartitionTree(Index tokens);

  Index tokens() const { return tokens_; }
  Index nodes() const { return first_.back(); }
  /// The root's level is the last.
  Index levels() const { return Index(first_.size()) - 1; }
  /// The number of a level's first node.
  Index first(Index level) const { return first_[std::size_t(level)]; }
  Index level_of(Index node) const;
  Interval span(Index node) const;

 private:
  Index tokens_;
  std::vector<Index> first_;  ///< of each level, and the number of nodes
};

/// Consecutive nodes of one level that a token reads on one side of it. They are read one after the
/// other outwards, the nearest as the step `first_step` of the walk's level, which may be one above
/// that of the nodes.
struct WalkRun {
  Index level, begin, end;  ///< nodes of the level, counted in it
  Index walk_level, first_step;
};

/// The nodes that together span all tokens before this one, `fan` at most of each level of the
/// walk: fine ones near by, coarse ones far away. They do not depend on how long the sequence is.
std::vector<WalkRun> walk_left(Index token, Index fan);
/// Those that span all tokens after it, of this many tokens.
std::vector<WalkRun> walk_right(Index token, Index tokens, Index fan);

}  // namespace weft::layers
