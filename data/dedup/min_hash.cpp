#include "data/dedup/min_hash.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"

namespace weft::data {
namespace {

constexpr std::uint64_t prime = (std::uint64_t(1) << 61) - 1;

/// x modulo 2^61 - 1: the bits above 61 count as much as those below.
std::uint64_t reduced(unsigned __int128 x) {
  const std::uint64_t sum = std::uint64_t(x & prime) + std::uint64_t(x >> 61);
  return sum >= prime ? sum - prime : sum;
}

}  // namespace

MinHash::MinHash(core::Index functions, std::uint64_t seed) {
  core::require(functions >= 1, "MinHash needs at least one function, got ", functions);
  const core::Rng random = core::Rng(seed).fold("minhash");
  for (core::Index i = 0; i < functions; ++i) {
    const auto number = 2 * std::uint64_t(i);
    factors_.push_back(1 + random.bits(number) % (prime - 1));
    terms_.push_back(random.bits(number + 1) % prime);
  }
}

void MinHash::sign(std::span<const std::uint64_t> set, std::span<std::uint64_t> signature) const {
  core::require(signature.size() == factors_.size(), "a signature holds ", factors_.size(),
                " components, not ", signature.size());
  std::ranges::fill(signature, prime);
  for (const std::uint64_t element : set) {
    const std::uint64_t x = reduced(element);
    for (std::size_t i = 0; i < factors_.size(); ++i)
      signature[i] = std::min(signature[i],
                              reduced(static_cast<unsigned __int128>(factors_[i]) * x + terms_[i]));
  }
}

double estimated_jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  core::require(a.size() == b.size() && !a.empty(), "signatures of ", a.size(), " and ", b.size(),
                " components cannot be compared");
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return double(equal) / double(a.size());
}

double Bands::probability(double similarity) const {
  return 1 - std::pow(1 - std::pow(similarity, double(rows)), double(count));
}

Bands bands_for(double threshold, core::Index functions) {
  constexpr double caught = 0.94;
  for (core::Index rows = functions; rows > 1; --rows) {
    const Bands bands{.count = functions / rows, .rows = rows};
    if (bands.probability(threshold) >= caught) return bands;
  }
  return {.count = functions, .rows = 1};
}

std::uint64_t band_hash(std::span<const std::uint64_t> signature, Bands bands, core::Index number) {
  const auto rows = std::size_t(bands.rows);
  const auto band = signature.subspan(std::size_t(number) * rows, rows);
  return XXH3_64bits_withSeed(band.data(), band.size_bytes(), std::uint64_t(number));
}

}  // namespace weft::data
