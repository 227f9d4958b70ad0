#pragma once

#include <algorithm>
#include <limits>

#include "core/ranks/chunk_link.h"
#include "core/ranks/traffic.h"

namespace weft::layers {

using core::Index;

/// Which chunk of the columns of longer sequences some sequences are, and its way to the others.
struct ChunkPlace {
  core::ChunkCut cut;
  Index number = 0;
  /// Null for a chunk that is run alone, as to time it: zeros take the place of what others send.
  core::ChunkLink* link = nullptr;

  /// The position of its first token.
  Index first() const { return cut.of(number).begin; }
  bool is_first() const { return number == 0; }
  bool is_last() const { return number + 1 == cut.count; }
};

/// How far to the left of a stretch of queries their keys begin.
struct LeftReach {
  Index tokens = 0;
  /// Keys are taken from a multiple of this on, where a pattern repeats itself.
  Index period = 1;

  static constexpr Index everything = std::numeric_limits<Index>::max() / 4;

  bool any() const { return tokens > 0 || period > 1; }
  /// The first key for queries from `first` on.
  Index begin(Index first) const { return std::max<Index>(0, first - tokens) / period * period; }
  /// The tokens of chunk `from` that chunk `to`, further right, reads; empty where it reads none.
  core::Stretch read(const core::ChunkCut& cut, Index from, Index to) const {
    const core::Stretch own = cut.of(from);
    return {std::min(std::max(own.begin, begin(cut.of(to).begin)), own.end), own.end};
  }
};

}  // namespace weft::layers
