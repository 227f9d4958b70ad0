#include "experiments/evaluate/statistics.h"

#include <cmath>

namespace weft::experiments::statistics_test {
namespace {

TEST(Statistic, a_mean_of_few_has_the_interval_of_student) {
  const std::vector<double> three = {1, 2, 3};
  EXPECT_NEAR(confidence_of(Statistic::of(three)), 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_TRUE(std::isnan(confidence_of(Statistic::of(std::vector<double>{1}))));
}

TEST(Statistics, mean_and_sample_deviation_of_known_numbers) {
  const Statistic s = Statistic::of(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.n, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(32.0 / 7));
  EXPECT_TRUE(std::isnan(Statistic::of(std::vector<double>{3}).deviation));
  EXPECT_TRUE(std::isnan(Statistic::of({}).mean));
}

TEST(Statistics, sign_flips_are_counted_exactly) {
  EXPECT_DOUBLE_EQ(sign_flip_probability(std::vector<double>{1, 1, 1, 1, 1}), 2.0 / 32);
  EXPECT_DOUBLE_EQ(sign_flip_probability(std::vector<double>{1, -1}), 1);
  // Sums of ±1 ±2 ±3 as far from zero as 1 + 2 + 3: two of eight; as far as 1 - 2 + 3: six.
  EXPECT_DOUBLE_EQ(sign_flip_probability(std::vector<double>{1, 2, 3}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(sign_flip_probability(std::vector<double>{1, -2, 3}), 6.0 / 8);
}

TEST(Statistics, seeds_that_decide_are_those_of_a_paired_t_test_with_a_power_of_80_per_cent) {
  // As tables of the power of a paired t test at 5 % have them, by effect in deviations.
  EXPECT_EQ(pairs_to_decide(0.5, 1), 34);
  EXPECT_EQ(pairs_to_decide(-0.8, 1), 15);
  EXPECT_EQ(pairs_to_decide(1, 1), 10);
  EXPECT_EQ(pairs_to_decide(2, 1), 5);
  EXPECT_EQ(pairs_to_decide(1000, 1), 2);
  EXPECT_EQ(pairs_to_decide(0.01, 1), std::nullopt) << "more than 1,000";
  EXPECT_EQ(pairs_to_decide(0, 1), std::nullopt);
  EXPECT_EQ(pairs_to_decide(1, NAN), std::nullopt);
}

TEST(Statistics, the_front_holds_what_nothing_beats_in_both) {
  const std::vector<Candidate> all = {{3, 9}, {1, 2}, {2, 1}, {2, 5}, {4, 9}, {NAN, 99}};
  EXPECT_EQ(pareto_front(all), (std::vector<std::size_t>{1, 3, 0}));
  EXPECT_TRUE(pareto_front({}).empty());
}

TEST(Statistics, the_exponent_of_a_power_law_is_found) {
  std::vector<std::pair<double, double>> points;
  for (const double x : {128.0, 256.0, 1024.0}) points.emplace_back(x, 7 * std::pow(x, 1.5));
  EXPECT_NEAR(fitted_exponent(points), 1.5, 1e-12);
  EXPECT_TRUE(std::isnan(fitted_exponent(std::vector<std::pair<double, double>>{{2, 3}, {2, 4}})));
}

}  // namespace
}  // namespace weft::experiments::statistics_test
