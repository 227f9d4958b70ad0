#include "data/solvable/mqar.h"

#include <algorithm>
#include <map>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"
#include "tests/data/solvable/solver_score.h"

namespace weft::data::mqar_test {
namespace {

using Row = std::span<const Token>;

/// What followed the last token when it was last written before.
Token last_value(Row tokens) {
  for (std::size_t i = tokens.size() - 1; i-- > 0;)
    if (tokens[i] == tokens.back()) return tokens[i + 1];
  return 200;  // never seen: any value
}

TEST(Mqar, an_exact_solver_is_always_right_and_without_its_context_guesses) {
  for (const Index updates : {0, 5}) {
    const MqarSettings settings{.keys = 128, .values = 128, .pairs = 8, .updates = updates};
    const Mqar data(settings, 64, 32, 1);
    EXPECT_EQ(solver_score(data, last_value), 1.0);
    EXPECT_NEAR(solver_score(data, last_value, 1), *data.chance(), guess_error(1.0 / 128, 256 * 8));
  }
}

TEST(Mqar, asks_for_each_key_once_and_scores_nothing_else) {
  const Mqar data({.pairs = 16, .updates = 3}, 129, 8, 1);
  const Batch batch = data.training(2);
  for (Index row = 0; row < 8; ++row) {
    const auto inputs = batch.inputs.read().subspan(std::size_t(row * 129), 129);
    const auto targets = batch.targets.read().subspan(std::size_t(row * 129), 129);
    const auto distances = batch.distances.read().subspan(std::size_t(row * 129), 129);
    std::map<Token, int> written, asked;
    for (std::size_t i = 0; i < 38; ++i) {
      EXPECT_EQ(inputs[i] <= 128, i % 2 == 0);
      if (i % 2 == 0) ++written[inputs[i]];
    }
    EXPECT_EQ(written.size(), 16u);
    for (std::size_t t = 0; t < 129; ++t) {
      EXPECT_GE(inputs[t], 1);
      EXPECT_LE(inputs[t], 256);
      const bool question = t >= 38 && inputs[t] <= 128;
      EXPECT_EQ(targets[t] != core::no_target, question);
      EXPECT_EQ(distances[t] > 0, question);
      if (!question) continue;
      EXPECT_EQ(t % 2, 0u);
      EXPECT_EQ(inputs[t - std::size_t(distances[t])], targets[t]);
      ++asked[inputs[t]];
    }
    EXPECT_EQ(asked.size(), 16u);
    for (const auto& [key, times] : asked) {
      EXPECT_EQ(times, 1);
      EXPECT_TRUE(written.contains(key));
    }
  }
}

TEST(Mqar, an_update_writes_another_value) {
  const Mqar data({.keys = 4, .values = 2, .pairs = 4, .updates = 4}, 32, 16, 1);
  const Batch batch = data.training(0);
  for (std::size_t row = 0; row < 16; ++row) {
    std::map<Token, std::vector<Token>> values;
    const auto inputs = batch.inputs.read().subspan(row * 32, 16);
    for (std::size_t i = 0; i < 16; i += 2) values[inputs[i]].push_back(inputs[i + 1]);
    for (const auto& [key, both] : values) {
      ASSERT_EQ(both.size(), 2u);
      EXPECT_NE(both[0], both[1]);
    }
  }
}

TEST(Mqar, asks_early_with_a_low_power_and_anywhere_with_power_one) {
  double mean[2];
  for (const bool uniform : {false, true}) {
    const Mqar data({.pairs = 1, .power = uniform ? 1.0 : 0.01}, 202, 256, 1);
    const Batch batch = data.training(0);
    double sum = 0;
    for (const Token distance : batch.distances.read()) sum += double(distance);
    mean[uniform] = sum / 256;
  }
  EXPECT_NEAR(mean[1], 1 + 99, 15);  // four deviations: slots 0 .. 99 of two tokens each
  EXPECT_LT(mean[0], 55);            // log-uniform: 99 / ln 100 slots in the mean
}

TEST(Mqar, a_batch_depends_on_seed_and_number_and_held_out_ones_on_neither) {
  const Mqar one({.held_out = 5}, 64, 4, 1), again({.held_out = 5}, 64, 4, 1),
      other({.held_out = 5}, 64, 4, 2);
  EXPECT_TRUE(same(one.training(3), again.training(3)));
  EXPECT_FALSE(same(one.training(3), other.training(3)));
  EXPECT_FALSE(same(one.training(3), one.training(4)));
  for (Index i = 0; i < 2; ++i)
    EXPECT_TRUE(
        same(one.evaluation(Split::validation, i, 64), other.evaluation(Split::validation, i, 64)));
  EXPECT_EQ(one.floor_bits(Split::test), 0.0);
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  EXPECT_NE(one.fingerprint(), Mqar({.updates = 1, .held_out = 5}, 64, 4, 1).fingerprint());
}

TEST(MqarSettings, report_what_does_not_fit) {
  const auto mqar = [](Index pairs, Index updates, Index length) {
    return GivenData({{"kind", string("mqar")},
                      {"keys", Index(16)},
                      {"pairs", pairs},
                      {"updates", updates},
                      {"length", length}});
  };
  EXPECT_EQ(mqar(8, 2, 36).problems(), Keys{});
  EXPECT_EQ(mqar(8, 2, 35).problems(), Keys{"length"});
  EXPECT_EQ(mqar(17, 2, 128).problems(), Keys{"pairs"});
  EXPECT_EQ(mqar(8, 9, 128).problems(), Keys{"updates"});
  expect_says(refusal_of([] { Mqar({.pairs = 8}, 31, 1, 1); }), core::Fault::usage, "at least 32");
}

}  // namespace
}  // namespace weft::data::mqar_test
