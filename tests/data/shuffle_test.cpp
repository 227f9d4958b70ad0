#include "data/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace weft::data::shuffle_test {
namespace {

std::vector<Index> order(Index size, std::uint64_t seed) {
  const Shuffle shuffle(size, core::Rng(seed));
  std::vector<Index> numbers;
  for (Index place = 0; place < size; ++place) numbers.push_back(shuffle[place]);
  return numbers;
}

TEST(Shuffle, holds_every_number_once_at_any_size) {
  for (const Index size : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    std::vector<Index> numbers = order(size, 3), all(std::size_t(size), 0);
    std::iota(all.begin(), all.end(), 0);
    std::ranges::sort(numbers);
    EXPECT_EQ(numbers, all) << size;
  }
}

TEST(Shuffle, differs_by_stream_and_is_the_same_for_the_same) {
  EXPECT_EQ(order(100, 1), order(100, 1));
  EXPECT_NE(order(100, 1), order(100, 2));
}

TEST(Shuffle, every_number_comes_first_about_equally_often) {
  constexpr Index size = 10, draws = 5000;
  std::vector<double> counts(size, 0);
  for (Index seed = 0; seed < draws; ++seed)
    ++counts[std::size_t(Shuffle(size, core::Rng(std::uint64_t(seed)))[0])];
  double chi_square = 0;
  for (const double count : counts)
    chi_square += (count - draws / size) * (count - draws / size) / (draws / size);
  EXPECT_LT(chi_square, 30);  // 9 degrees of freedom: exceeded once in 2,300
}

TEST(Shuffle, refuses_a_place_that_does_not_exist) {
  EXPECT_THROW(Shuffle(0, core::Rng(1)), core::Error);
  EXPECT_THROW(Shuffle(5, core::Rng(1))[5], core::Error);
}

}  // namespace
}  // namespace weft::data::shuffle_test
