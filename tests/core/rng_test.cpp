#include "core/rng.h"

#include <cmath>

namespace weft::core::rng_test {
namespace {

TEST(Rng, reproduces_the_published_philox_vectors) {
  // Known-answer vector of Philox 4x32-10: counter and key all zero.
  const auto words = Rng(0).block(0);
  EXPECT_EQ(words[0], 0x6627e8d5u);
  EXPECT_EQ(words[1], 0xe169c58du);
  EXPECT_EQ(words[2], 0xbc57ac4cu);
  EXPECT_EQ(words[3], 0x9b00dbd8u);
}

TEST(Rng, draws_the_same_number_whatever_was_drawn_before) {
  const Rng rng = Rng(7).fold(3).fold("dropout");
  const double tenth = rng.uniform(10);
  for (int i = 0; i < 10; ++i) rng.uniform(std::uint64_t(i));
  EXPECT_EQ(rng.uniform(10), tenth);
  EXPECT_NE(Rng(7).fold(4).fold("dropout").uniform(10), tenth);
}

TEST(Rng, normals_have_mean_zero_and_variance_one) {
  const Rng rng(11);
  double sum = 0, squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double x = rng.normal(std::uint64_t(i));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 4 * std::sqrt(2.0 / n));
}

TEST(Rng, below_covers_its_range_evenly) {
  const Rng rng(5);
  std::vector<int> hits(7);
  for (int i = 0; i < 70000; ++i) ++hits[std::size_t(rng.below(std::uint64_t(i), 7))];
  for (const int h : hits) EXPECT_NEAR(h, 10000, 4 * 100);
}

}  // namespace
}  // namespace weft::core::rng_test
