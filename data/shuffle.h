#pragma once

#include "core/rng.h"

namespace weft::data {

using core::Index;

/// A random order of 0 .. size - 1 of which any place can be computed alone: a keyed permutation
/// (a Feistel network over the next larger power of four, repeated until the result is inside).
class Shuffle {
 public:
  Shuffle(Index size, const core::Rng& stream);

  /// The number at `place`.
  Index operator[](Index place) const;

 private:
  Index size_;
  int half_bits_ = 1;
  core::Rng stream_;
};

}  // namespace weft::data
