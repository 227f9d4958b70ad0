#pragma once

#include "core/arrays/tokens.h"

namespace weft::core {

/// What a model reads of B sequences, and what it should predict.
struct Batch {
  Tokens inputs;                     ///< [B, T]
  Tokens targets = {};               ///< [B, T], no_target where nothing is scored; [B, 1] where a
                                     ///< whole sequence has one answer; [B, A, 2] where answers are
                                     ///< spans, first and last token each
  Lengths lengths = nullptr;         ///< real tokens of each input; null: all
  Tokens sources = {};               ///< [B, S] or empty: what the inputs are generated from
  Lengths source_lengths = nullptr;  ///< real tokens of each source; null: all
  Tokens documents = {};             ///< [B, 2] or empty: first and last token of the document in
                                     ///< which the answer to a question is looked for
};

}  // namespace weft::core
