#pragma once

#include <vector>

#include "layers/attention/contract/rows.h"
#include "layers/attention/pattern/atom.h"

namespace weft::layers {

/// The rows of one sequence of ETC: global tokens, then the tokens of the long input.
struct GlobalLocalStructure {
  Index globals = 0, tokens = 0;
  std::vector<Index> sentence;  ///< of each token: the global token that it belongs to, -1 for none
  /// Of each row: only rows of the same example read each other, and 0 is padding. Empty: all are
  /// of one.
  std::vector<Index> example = {};
  /// Of each global token. Empty: all are of one.
  std::vector<Index> context = {};

  Index rows() const { return globals + tokens; }

  /// That of a sequence with sentences: the first global token represents the whole sequence, then
  /// come those of a question, and each other one is for a sentence.
  static GlobalLocalStructure of(const RowLayout& layout);
};

/// Which rows read each other, with which labels. With clip c, labels are 0 for a token itself, 1
/// .. c for those to its right, c + 1 .. 2 c to its left, between tokens of one side; 2 c + 1 and 2
/// c + 2 between the sides, the latter where the token belongs to the global one; 2 c + 3 between
/// global tokens of different contexts.
struct GlobalLocalRules {
  Index clip = 12;
  bool hard_l2g = false;  ///< a token reads only its own global token
  bool hard_g2l = false;  ///< a global token reads only its own tokens

  Index spare_labels = 0;  ///< rows of the tables that nobody uses

  Index labels() const { return 2 * clip + 4 + spare_labels; }
};

}  // namespace weft::layers
