#pragma once

#include <span>
#include <vector>

#include "layers/attention/chosen/entries.h"

namespace weft::layers {

/// Which blocks of tokens a query reads, by the weights that it gave to entries.
struct BlockSelection {
  EntryLayout entries;
  Index width = 64;              ///< tokens of a block
  Index selected = 16;           ///< blocks that a query reads at most
  Index first = 1, nearest = 2;  ///< of them always read: blocks at the start, blocks up to its own

  /// A block's score is the sum of the weights of entries, each times the tokens that the two have
  /// in common, over the entries' stride.  weights: of the closed entries -> scores: [own + 1]
  void score(std::span<const Real> weights, Index own, std::vector<Real>& scores) const;
  /// The blocks that a query in block `own` reads, ascending. `scores` is used up; where all are
  /// read it may be empty.
  void choose(std::vector<Real>& scores, Index own, std::vector<std::int32_t>& chosen) const;
  /// Whether a query in that block has a choice.
  bool chooses(Index own) const { return own + 1 > selected; }
};

}  // namespace weft::layers
