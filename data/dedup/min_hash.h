#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/real.h"

namespace weft::data {

/// K random functions h(x) = (a x + b) mod (2^61 - 1). A set's signature holds the least value of
/// each over the set; two sets have an equal component with the probability of their Jaccard
/// similarity J, so the share of equal components estimates it, with deviation sqrt(J (1 - J) / K).
class MinHash {
 public:
  explicit MinHash(core::Index functions, std::uint64_t seed = 1);

  core::Index functions() const { return core::Index(factors_.size()); }
  /// Writes K components.
  void sign(std::span<const std::uint64_t> set, std::span<std::uint64_t> signature) const;

 private:
  std::vector<std::uint64_t> factors_, terms_;
};

double estimated_jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

/// A signature cut into bands: sets that agree in all rows of any band become candidates.
struct Bands {
  core::Index count = 16;
  core::Index rows = 8;

  /// The probability that a pair of this similarity becomes a candidate: 1 - (1 - s^rows)^count.
  double probability(double similarity) const;
};

/// The longest bands, so the fewest needless candidates, by which at most `functions` components
/// still catch a pair at the threshold with probability 0.94.
Bands bands_for(double threshold, core::Index functions);

/// The components of band `number` and the number itself as one hash.
std::uint64_t band_hash(std::span<const std::uint64_t> signature, Bands bands, core::Index number);

}  // namespace weft::data
