#pragma once

#include "core/rng.h"

namespace weft::data {

using core::Index;

/// A random order of 0 .. size - 1 of which any place can be asked for by itself: a keyed
/// permutation (a Feistel network over the next larger power of four, walked until it falls
/// inside).
class Shuffle {
 public:
  Shuffle(Index size, const core::Rng& stream);

  /// The number that stands at `place`.
  Index operator[](Index place) const;

 private:
  Index size_;
  int half_bits_ = 1;
  core::Rng stream_;
};

}  // namespace weft::data
