// The entmax of a row by itself; as attention it runs through the contract under its variants.
#include <gtest/gtest.h>

#include "core/counters.h"
#include "layers/attention/contract/entmax.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/attention_sample.h"
#include "tests/layers/attention/naive_entmax.h"

namespace weft::layers::entmax_contract_test {
namespace {

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr Real infinity = std::numeric_limits<Real>::infinity();

std::vector<Real> weights_of(std::vector<Real> scores, double alpha) {
  std::vector<double> candidates;
  const Entmax entmax(alpha);
  entmax.weigh(scores.data(), Index(scores.size()),
               entmax.threshold(scores.data(), Index(scores.size()), candidates));
  return scores;
}

std::vector<Real> drawn_scores(Index n, std::uint64_t seed) {
  const Tensor x = tests::random_tensor({n}, seed);
  return {x.read().begin(), x.read().end()};
}

TEST(Entmax, has_the_published_values) {
  const std::vector<Real> z = {1, Real(0.8), Real(0.1)};
  const double close = in_double ? 1e-6 : 2e-6;
  tests::expect_close(weights_of(z, 2), std::vector<double>{.6, .4, 0}, close);
  tests::expect_close(weights_of(z, 1.5), std::vector<double>{.529248, .393749, .077003}, close);
  tests::expect_close(weights_of(z, 1.25), std::vector<double>{.484180, .378119, .137701}, close);
}

TEST(Entmax, is_its_naive_twin_at_any_alpha_and_length) {
  for (const double alpha : {1.01, 1.1, 1.5, 1.50001, 1.9, 2.0, 2.5, 4.0})
    for (const Index n : {1, 2, 3, 50, 1000}) {
      const std::vector<Real> scores = drawn_scores(n, std::uint64_t(n));
      std::vector<double> expected(scores.begin(), scores.end());
      naive_weights(expected, alpha);
      tests::expect_close(weights_of(scores, alpha), expected,
                          in_double      ? 1e-11
                          : alpha < 1.05 ? 1e-4
                                         : 1e-5);
    }
}

TEST(Entmax, gives_the_same_weights_to_shifted_scores) {
  std::vector<Real> scores = drawn_scores(40, 1), shifted = scores;
  for (Real& score : shifted) score += 8;
  for (const double alpha : {1.25, 1.5, 2.0}) {
    const auto alone = weights_of(scores, alpha);
    tests::expect_close(weights_of(shifted, alpha), std::vector<double>(alone.begin(), alone.end()),
                        in_double ? 1e-12 : 1e-5);
  }
}

TEST(Entmax, leaves_out_the_second_of_two_exactly_from_its_margin_on) {
  for (const double alpha : {1.25, 1.5, 2.0}) {
    const Real margin = Real(1 / (alpha - 1));
    EXPECT_EQ(weights_of({margin * Real(1.001), 0}, alpha)[1], 0);
    EXPECT_GT(weights_of({margin * Real(0.99), 0}, alpha)[1], 0);
  }
}

TEST(Entmax, gives_nothing_to_scores_of_minus_infinity) {
  for (const double alpha : {1.25, 1.5, 2.0}) {
    EXPECT_EQ(weights_of({-infinity, 3, -infinity}, alpha), (std::vector<Real>{0, 1, 0}));
    EXPECT_EQ(weights_of({-infinity, -infinity}, alpha), (std::vector<Real>{0, 0}));
    EXPECT_EQ(weights_of({}, alpha), std::vector<Real>{});
  }
}

TEST(Entmax, nears_softmax_as_alpha_nears_one) {
  if (!in_double) GTEST_SKIP() << "rounding in float is larger than the difference";
  const std::vector<Real> scores = drawn_scores(30, 5);
  std::vector<double> softmax(scores.begin(), scores.end());
  naive_weights(softmax, 1);
  tests::expect_close(weights_of(scores, 1.0001), softmax, 1e-3);
}

TEST(Entmax, refuses_an_alpha_of_one) { EXPECT_THROW(Entmax(1.0), core::Error); }

// Scores far apart leave one key to a query: values of the others are not touched.
TEST(SparseAttention, skips_the_values_of_keys_without_weight) {
  const auto value_flops = [](Real spread) {
    AttentionSample it("dense", Sequences::self(1, 256, true), 1, 8, {{"normaliser", "sparsemax"}});
    for (Real& q : it.inputs()[0].write()) q *= spread;
    const Index before = core::counters().flops;
    it.evaluate();
    return core::counters().flops - before;
  };
  EXPECT_LT(value_flops(100), value_flops(Real(0.01)) * 6 / 10);
}

}  // namespace
}  // namespace weft::layers::entmax_contract_test
