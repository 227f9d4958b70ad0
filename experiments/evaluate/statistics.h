#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

using core::Index;

/// Mean and sample deviation of some measurements.
struct Statistic {
  Index n = 0;
  double mean = 0;       ///< NaN without measurements
  double deviation = 0;  ///< NaN for less than two

  static Statistic of(std::span<const double> values);
};

/// Half the width of the 95 % confidence interval of a mean, by Student's t; NaN for less than two.
double confidence_of(const Statistic& statistic);

/// How often pairs of which none is better would differ in the mean as much as these do, by giving
/// every difference either sign: exact, and small only when there are several pairs.
double sign_flip_probability(std::span<const double> differences);

/// How many pairs a paired t test at 5 % needs to find, with a probability of 80 %, a mean
/// difference of this size where differences have this deviation: at least two; nothing when
/// 1,000 are too few or either number is unknown.
std::optional<Index> pairs_to_decide(double difference, double deviation);

/// A candidate: less cost and more merit are better.
struct Candidate {
  double cost = 0, merit = 0;
};
/// The candidates that no other one beats in both, from the cheapest to the most expensive. NaN is
/// beaten by everything.
std::vector<std::size_t> pareto_front(std::span<const Candidate> candidates);

/// The exponent p of y = c x^p through the points, by least squares of logarithms; NaN for less
/// than two different x.
double fitted_exponent(std::span<const std::pair<double, double>> points);

}  // namespace weft::experiments
