#include "data/dedup/min_hash.h"

#include <cmath>

#include "core/rng.h"
#include "data/dedup/shingles.h"

namespace weft::data::min_hash_test {
namespace {

using core::Index;

/// Two sets of 64-bit numbers that share `both` of `both + 2 * alone`.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> sets(Index both, Index alone,
                                                                       std::uint64_t seed) {
  std::vector<std::uint64_t> a, b;
  const core::Rng random(seed);
  for (Index i = 0; i < both + 2 * alone; ++i) {
    if (i < both + alone) a.push_back(random.bits(std::uint64_t(i)));
    if (i < both || i >= both + alone) b.push_back(random.bits(std::uint64_t(i)));
  }
  return {a, b};
}

std::vector<std::uint64_t> signature(const MinHash& hash, const std::vector<std::uint64_t>& set) {
  std::vector<std::uint64_t> out(std::size_t(hash.functions()));
  hash.sign(set, out);
  return out;
}

TEST(MinHash, the_share_of_equal_components_is_the_similarity_within_its_deviation) {
  const MinHash hash(128);
  for (const auto& [both, alone] : {std::pair<Index, Index>{10, 45}, {50, 25}, {80, 10}, {95, 2}}) {
    const double similarity = double(both) / double(both + 2 * alone);
    const double deviation = std::sqrt(similarity * (1 - similarity) / 128);
    constexpr int trials = 300;
    double mean = 0, square = 0;
    for (int t = 0; t < trials; ++t) {
      const auto [a, b] = sets(both, alone, std::uint64_t(1000 * both + t));
      const double error = estimated_jaccard(signature(hash, a), signature(hash, b)) - similarity;
      mean += error / trials;
      square += error * error / trials;
    }
    EXPECT_NEAR(mean, 0, 4 * deviation / std::sqrt(double(trials))) << similarity;
    EXPECT_NEAR(std::sqrt(square), deviation, 0.2 * deviation) << similarity;
  }
}

TEST(MinHash, equal_sets_have_equal_signatures_in_any_order_and_the_seed_decides) {
  const auto [a, b] = sets(20, 5, 1);
  const std::vector<std::uint64_t> turned(a.rbegin(), a.rend());
  EXPECT_EQ(signature(MinHash(64), a), signature(MinHash(64), turned));
  EXPECT_NE(signature(MinHash(64), a), signature(MinHash(64), b));
  EXPECT_NE(signature(MinHash(64, 1), a), signature(MinHash(64, 2), a));
}

TEST(MinHash, bands_follow_their_curve) {
  const Bands usual;
  EXPECT_NEAR(usual.probability(0.5), 0.06, 0.005);
  EXPECT_NEAR(usual.probability(0.7), 0.61, 0.005);
  EXPECT_NEAR(usual.probability(0.8), 0.95, 0.005);
  EXPECT_NEAR(usual.probability(0.9), 1.00, 0.005);
  EXPECT_NEAR((Bands{25, 5}.probability(0.5)), 0.55, 0.005);
  EXPECT_NEAR((Bands{9, 13}.probability(0.8)), 0.40, 0.005);
}

TEST(MinHash, candidates_are_as_frequent_as_the_curve_says) {
  const Bands bands;
  for (const auto& [both, alone] : {std::pair<Index, Index>{50, 25}, {70, 15}, {80, 10}}) {
    const double expected = bands.probability(double(both) / double(both + 2 * alone));
    constexpr int trials = 400;
    int met = 0;
    for (int t = 0; t < trials; ++t) {
      const MinHash hash(128, std::uint64_t(t));
      const auto [a, b] = sets(both, alone, 7);
      const auto x = signature(hash, a), y = signature(hash, b);
      bool candidate = false;
      for (Index band = 0; band < bands.count; ++band)
        candidate |= band_hash(x, bands, band) == band_hash(y, bands, band);
      met += candidate;
    }
    const double deviation = std::sqrt(expected * (1 - expected) / trials);
    EXPECT_NEAR(double(met) / trials, expected, 4 * deviation) << both;
  }
}

TEST(MinHash, bands_are_chosen_for_the_threshold) {
  EXPECT_EQ(bands_for(0.8, 128).count, 16);
  EXPECT_EQ(bands_for(0.8, 128).rows, 8);
  for (const double threshold : {0.2, 0.5, 0.9, 0.99}) {
    const Bands bands = bands_for(threshold, 128);
    EXPECT_GE(bands.probability(threshold), 0.94) << threshold;
    EXPECT_LE(bands.count * bands.rows, 128);
  }
}

}  // namespace
}  // namespace weft::data::min_hash_test
