#include "data/tasks/noise.h"

#include <algorithm>

#include "core/error.h"
#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"

namespace weft::data::noise_test {
namespace {

TEST(Noise, a_batch_depends_on_seed_and_number_only) {
  const Noise one({}, 32, 4, 1), same_seed({}, 32, 4, 1), other_seed({}, 32, 4, 2);
  for (const Index number : {5, 0, 3}) {
    EXPECT_TRUE(same(one.training(number), same_seed.training(number)));
    EXPECT_FALSE(same(one.training(number), other_seed.training(number)));
  }
  EXPECT_FALSE(same(one.training(0), one.training(1)));
}

TEST(Noise, symbols_are_uniform_and_targets_come_one_later) {
  NoiseSettings settings;
  settings.symbols = 10;
  const Noise noise(settings, 1000, 10, 1);
  const Batch batch = noise.training(0);
  const auto inputs = batch.inputs.read(), targets = batch.targets.read();
  for (std::size_t i = 0; i < 999; ++i) ASSERT_EQ(inputs[i + 1], targets[i]);
  for (Token symbol = 0; symbol < 10; ++symbol) {
    EXPECT_NEAR(double(std::ranges::count(targets, symbol)), 1000, 150);  // five deviations
  }
}

TEST(Noise, held_out_symbols_are_scored_once_and_are_the_same_for_every_seed) {
  NoiseSettings settings;
  settings.held_out = 5;
  const Noise one(settings, 16, 4, 1), other(settings, 16, 4, 2);
  ASSERT_EQ(one.evaluation_batches(Split::validation, 16), 2);
  Index scored = 0;
  for (Index i = 0; i < 2; ++i) {
    const Batch batch = one.evaluation(Split::validation, i, 16);
    EXPECT_EQ(batch.inputs.shape(), (core::Shape{4, 16}));
    EXPECT_TRUE(same(batch, other.evaluation(Split::validation, i, 16)));
    EXPECT_FALSE(same(batch, one.evaluation(Split::test, i, 16)));
    scored += std::ranges::count_if(batch.targets.read(), [](Token t) { return t >= 0; });
  }
  EXPECT_EQ(scored, 5 * 16);
  EXPECT_THROW(one.evaluation(Split::validation, 2, 16), core::Error);
}

TEST(Noise, its_floor_is_the_entropy_of_a_uniform_symbol) {
  const Noise noise({}, 16, 1, 1);
  EXPECT_EQ(noise.floor_bits(Split::validation), 8.0);
}

TEST(Noise, every_symbol_prints_and_reads_back) {
  NoiseSettings settings;
  settings.symbols = 50000;
  const Noise noise(settings, 16, 1, 1);
  std::vector<Token> all(50000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = Token(i);
  EXPECT_EQ(noise.encode(noise.decode(all)), all);
}

TEST(Noise, streams_go_on_for_as_long_as_they_are) {
  const Noise whole({}, 64, 2, 1), cut({.stream = 64}, 16, 2, 1);
  for (Index i = 0; i < 8; ++i) {
    const Batch segment = cut.training(i);
    EXPECT_EQ(segment.continues, i % 4 > 0);
    for (std::size_t t = 0; t < 16; ++t)
      EXPECT_EQ(segment.inputs.read()[t],
                whole.training(i / 4).inputs.read()[std::size_t(i % 4) * 16 + t]);
  }
  EXPECT_THROW(Noise({.stream = 60}, 16, 2, 1), core::Error);
}

TEST(NoiseSettings, streams_are_whole_segments) {
  const auto noise = [](Index stream) {
    return GivenData({{"kind", string("noise")}, {"stream", stream}});
  };
  EXPECT_EQ(noise(200).problems(), Keys{"stream"});
  EXPECT_EQ(noise(256).problems(), Keys{});
  EXPECT_TRUE(noise(256).traits().streams);
  EXPECT_FALSE(noise(0).traits().streams);
}

}  // namespace
}  // namespace weft::data::noise_test
