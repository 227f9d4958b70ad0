#include "autograd/ops.h"
#include "core/error.h"
#include "tests/gradient_check.h"

namespace weft::autograd::logistic_mixture_gradient_test {
namespace {

using core::Token;
using core::Tokens;
using tests::random_tensor;

Tensor theta_of(std::initializer_list<double> numbers) {
  Tensor theta({1, Index(numbers.size())});
  std::ranges::copy(numbers, theta.write().begin());
  return theta;
}

double nats_of(const Tensor& theta, Token value, Index levels = 256) {
  return double(logistic_mixture(Var(theta), Tokens({1}, {value}), levels, -7).value().read()[0]);
}

TEST(LogisticMixtureGradient, agrees_with_differences) {
  struct Case {
    Index mixtures, levels;
  };
  for (const Case c : {Case{1, 256}, {3, 256}, {10, 256}, {2, 2}, {4, 16}}) {
    const Token top = Token(c.levels - 1);
    const Tokens values({6}, {0, top, top / 2, core::no_target, Token(top / 3), 0});
    tests::check_gradient("logistic_mixture",
                          [&](const Pass&, const std::vector<Var>& x) {
                            return logistic_mixture(x[0], values, c.levels, -7);
                          },
                          {random_tensor({6, 3 * c.mixtures}, 1)});
  }
}

TEST(LogisticMixtureGradient, of_a_scale_below_the_least_is_zero_and_agrees_elsewhere) {
  const Tokens values({1}, {128});
  tests::check_gradient("logistic_mixture",
                        [&](const Pass&, const std::vector<Var>& x) {
                          return logistic_mixture(x[0], values, 256, -7);
                        },
                        {theta_of({0.1, 0.3, 0.003, -0.2, -9, -1})});
}

TEST(LogisticMixtureGradient, probabilities_of_all_values_sum_to_one) {
  for (const Index levels : {2, 16, 256}) {
    const Tensor theta = random_tensor({1, 12}, 5);
    double sum = 0;
    for (Token v = 0; v < levels; ++v) sum += std::exp(-nats_of(theta, v, levels));
    EXPECT_NEAR(sum, 1, 1e-12) << levels;
  }
}

TEST(LogisticMixtureGradient, stays_finite_and_exact_where_plain_differences_vanish) {
  // One narrow logistic far away: ln p = -distance / scale + ln(scale's share), by the tail.
  const Tensor theta = theta_of({0, -0.9, -7});
  const double scale = std::exp(-7.0), y = 2.0 * 200 / 255 - 1, width = 2.0 / 255;
  const double lower = (y - 1.0 / 255 + 0.9) / scale;
  EXPECT_NEAR(nats_of(theta, 200), lower - std::log(-std::expm1(-width / scale)), 1e-9);
  EXPECT_TRUE(std::isfinite(nats_of(theta_of({0, 500, -30}), 0)));
  EXPECT_TRUE(std::isfinite(nats_of(theta_of({900, -900, 0, 0, 40, -40}), 255)));
}

TEST(LogisticMixtureGradient, refuses_values_that_do_not_exist) {
  const Tensor theta = random_tensor({1, 3}, 1);
  EXPECT_THROW(nats_of(theta, 256), core::Error);
  EXPECT_THROW(nats_of(theta, -2), core::Error);
  EXPECT_THROW(nats_of(random_tensor({1, 4}, 1), 3), core::Error);
}

}  // namespace
}  // namespace weft::autograd::logistic_mixture_gradient_test
