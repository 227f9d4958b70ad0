#include "layers/attention/partition/tree.h"

#include <algorithm>

#include "core/error.h"

namespace weft::layers {

PartitionTree::PartitionTree(Index tokens) : tokens_(tokens) {
  core::require(tokens >= 1, "binary partition: needs a token, got ", tokens);
  Index first = 0;
  for (Index size = tokens;; size = (size + 1) / 2) {
    first_.push_back(first);
    first += size;
    if (size == 1) break;
  }
  first_.push_back(first);
}

Index PartitionTree::level_of(Index node) const {
  return std::ranges::upper_bound(first_, node) - first_.begin() - 1;
}

Interval PartitionTree::span(Index node) const {
  const Index level = level_of(node), x = node - first(level);
  return {x << level, std::min((x + 1) << level, tokens_)};
}

// A level of the walk begins with a single node of the level below where that alone reaches its own
// boundaries; from there on its nodes are its own.

std::vector<WalkRun> walk_left(Index token, Index fan) {
  std::vector<WalkRun> runs;
  Index end = token;
  for (Index level = 0; end > 0; ++level) {
    Index step = 0;
    if ((end >> level) << level != end) {
      const Index x = (end >> (level - 1)) - 1;
      runs.push_back({level - 1, x, x + 1, level, step++});
      end = x << (level - 1);
    }
    const Index last = end >> level, count = std::min(fan - step, last);
    if (count > 0) runs.push_back({level, last - count, last, level, step});
    end -= count << level;
  }
  return runs;
}

std::vector<WalkRun> walk_right(Index token, Index tokens, Index fan) {
  std::vector<WalkRun> runs;
  Index begin = token + 1;
  for (Index level = 0; begin < tokens; ++level) {
    Index step = 0;
    if ((begin >> level) << level != begin) {
      const Index x = begin >> (level - 1);
      runs.push_back({level - 1, x, x + 1, level, step++});
      begin = (x + 1) << (level - 1);
    }
    const Index first = begin >> level, left = (tokens - begin + (Index(1) << level) - 1) >> level;
    const Index count = std::clamp<Index>(left, 0, fan - step);
    if (count > 0) runs.push_back({level, first, first + count, level, step});
    begin += count << level;
  }
  return runs;
}

}  // namespace weft::layers
