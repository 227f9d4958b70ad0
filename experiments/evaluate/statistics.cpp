#include "experiments/evaluate/statistics.h"

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace weft::experiments {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr double confidence = 0.95, power = 0.8;
constexpr Index most_pairs = 1000;

/// With which probability a paired t test finds a difference of `effect` deviations.
double power_of(double effect, Index pairs) {
  const double shift = effect * std::sqrt(double(pairs)), freedom = double(pairs - 1);
  const double limit =
      boost::math::quantile(boost::math::students_t(freedom), (1 + confidence) / 2);
  if (shift > 10 * limit) return 1;
  const boost::math::non_central_t found(freedom, shift);
  return boost::math::cdf(boost::math::complement(found, limit)) + boost::math::cdf(found, -limit);
}

}  // namespace

Statistic Statistic::of(std::span<const double> values) {
  Statistic result{.n = Index(values.size()), .mean = nan, .deviation = nan};
  if (values.empty()) return result;
  const double n = double(values.size());
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (n - 1));
  return result;
}

double confidence_of(const Statistic& statistic) {
  if (statistic.n < 2 || !std::isfinite(statistic.deviation)) return nan;
  const boost::math::students_t spread(double(statistic.n - 1));
  return boost::math::quantile(spread, (1 + confidence) / 2) * statistic.deviation /
         std::sqrt(double(statistic.n));
}

double sign_flip_probability(std::span<const double> differences) {
  core::require(differences.size() <= 20, "sign flips: more than 20 pairs are too many to count");
  const double observed = std::abs(std::accumulate(differences.begin(), differences.end(), 0.0));
  const std::uint32_t all = std::uint32_t(1) << differences.size();
  std::uint32_t as_far = 0;
  for (std::uint32_t signs = 0; signs < all; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i)
      sum += (signs >> i & 1) ? differences[i] : -differences[i];
    as_far += std::abs(sum) >= observed * (1 - 1e-12);
  }
  return double(as_far) / double(all);
}

std::optional<Index> pairs_to_decide(double difference, double deviation) {
  if (!std::isfinite(difference) || !std::isfinite(deviation) || difference == 0)
    return std::nullopt;
  if (deviation == 0) return 2;
  const double effect = std::abs(difference) / deviation;
  if (power_of(effect, most_pairs) < power) return std::nullopt;
  Index few = 1, enough = most_pairs;  // too few, and enough
  while (enough - few > 1) {
    const Index middle = (few + enough) / 2;
    (power_of(effect, middle) < power ? few : enough) = middle;
  }
  return enough;
}

std::vector<std::size_t> pareto_front(std::span<const Candidate> candidates) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (std::isfinite(candidates[i].cost) && std::isfinite(candidates[i].merit)) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const Candidate &x = candidates[a], &y = candidates[b];
    return std::pair(x.cost, -x.merit) < std::pair(y.cost, -y.merit);
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order)
    if (front.empty() || candidates[i].merit > candidates[front.back()].merit) front.push_back(i);
  return front;
}

double fitted_exponent(std::span<const std::pair<double, double>> points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [a, b] : points) {
    x += std::log(a);
    y += std::log(b);
    xx += std::log(a) * std::log(a);
    xy += std::log(a) * std::log(b);
  }
  const double n = double(points.size()), spread = n * xx - x * x;
  return spread > 1e-12 ? (n * xy - x * y) / spread : nan;
}

}  // namespace weft::experiments
