#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/real.h"

namespace weft::core {

/// A counter-based random stream (Philox 4x32-10): number i of a stream is a pure function of the
/// stream's key and i, so a replay, a resumed run and any number of threads draw the same numbers.
/// Streams are derived, never advanced: `root.fold(step).fold(layer)`.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : key_(seed) {}

  /// The stream of one part of what this stream is for.
  Rng fold(std::uint64_t part) const;
  Rng fold(std::string_view name) const;

  /// Four words at a time: block i holds the stream's words 4i .. 4i+3.
  std::array<std::uint32_t, 4> block(std::uint64_t i) const;

  std::uint64_t bits(std::uint64_t i) const;
  /// In [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t i) const;
  /// In [0, n), without modulo bias worth naming for n far below 2^64.
  Index below(std::uint64_t i, Index n) const;
  /// Standard normal (Box-Muller).
  double normal(std::uint64_t i) const;

  std::uint64_t key() const { return key_; }

 private:
  std::uint64_t key_;
};

/// out[i] = scale * normal(i).
void fill_normal(std::span<Real> out, const Rng& rng, double scale);
/// out[i] uniform in [-bound, bound).
void fill_uniform(std::span<Real> out, const Rng& rng, double bound);

}  // namespace weft::core
