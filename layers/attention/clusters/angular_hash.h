#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "layers/attention/contract/heads.h"

namespace weft::layers {

/// Angular hashing: a vector's bucket is the largest of its projections on random directions and of
/// their negatives. Above 128 buckets it is a pair of two smaller hashes, h1 + first * h2, so that
/// the work does not grow with the number of buckets but with its root.
struct AngularHash {
  Index head_width = 0, rounds = 1;
  Index first = 2, second = 0;  ///< buckets of each part, even; second 0 for one part

  /// `buckets` is even; a factorised hash may have a few less.
  static AngularHash of(Index head_width, Index rounds, Index buckets);

  Index buckets() const { return second > 0 ? first * second : first; }
  /// Directions of one round.
  Index directions() const { return (first + second) / 2; }

  /// Normal numbers for the directions of all heads.  -> [heads, D, rounds * directions]
  Tensor draw(const core::Rng& stream, Index heads) const;

  /// The buckets of one token's head.  x: [D], directions: [D, rounds * directions] -> [rounds];
  /// scratch: [rounds * directions]
  void hash(const Real* x, const Real* directions, std::uint16_t* buckets, Real* scratch) const;
};

/// Bucket ids of every token: [B, heads, rounds, T].
std::vector<std::uint16_t> hash_tokens(const AngularHash& hash, const Tensor& directions,
                                       ConstHeads x, Index batch, Index heads, Index length);

}  // namespace weft::layers
