#include "layers/attention/contract/entmax.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/error.h"

namespace weft::layers {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The largest r with 1 + r x_r > x_1 + ... + x_r, x descending, gives tau = (sum - 1) / r.
double sparsemax_threshold(const std::vector<double>& x) {
  double sum = 0, threshold = 0;
  for (std::size_t r = 0; r < x.size(); ++r) {
    sum += x[r];
    const double next = (sum - 1) / double(r + 1);
    if (next >= x[r]) break;
    threshold = next;
  }
  return threshold;
}

/// Of the first r numbers x, descending, the threshold at which their squares sum to one; the
/// largest r whose last number is above it is right.
double entmax15_threshold(const std::vector<double>& x) {
  double sum = 0, squares = 0, threshold = 0;
  for (std::size_t r = 0; r < x.size(); ++r) {
    const double from_top = x[r] - x[0], count = double(r + 1);
    sum += from_top;
    squares += from_top * from_top;
    const double mean = sum / count, spread = squares - sum * mean;
    const double next = x[0] + mean - std::sqrt(std::max(0.0, (1 - spread) / count));
    if (next > x[r]) break;
    threshold = next;
  }
  return threshold;
}

/// Newton's method inside a bracket that halving closes when a step would leave it.
double bracketed_threshold(const std::vector<double>& x, double top, double exponent) {
  double low = top - 1, high = top - std::pow(double(x.size()), -1 / exponent), threshold = low;
  for (int i = 0; i < 100 && low < high; ++i) {
    double excess = -1, steepness = 0;
    for (const double value : x) {
      if (value <= threshold) continue;
      const double power = std::pow(value - threshold, exponent - 1);
      excess += power * (value - threshold);
      steepness += exponent * power;
    }
    if (excess == 0) break;
    (excess > 0 ? low : high) = threshold;
    double next = threshold + excess / steepness;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - threshold) <= 1e-16 * std::max(1.0, std::abs(top))) break;
    threshold = next;
  }
  return threshold;
}

}  // namespace

Entmax::Entmax(double alpha) : alpha_(alpha), exponent_(1 / (alpha - 1)) {
  core::require(alpha > 1, "entmax: alpha must be above 1, got ", alpha);
}

Real Entmax::threshold(const Real* scores, Index n, std::vector<double>& candidates) const {
  const double factor = alpha_ - 1;
  double top = -infinity;
  for (Index i = 0; i < n; ++i) top = std::max(top, factor * double(scores[i]));
  if (top == -infinity) return std::numeric_limits<Real>::infinity();
  // The threshold is at least top - 1: a row of one weight has it there.
  candidates.clear();
  for (Index i = 0; i < n; ++i)
    if (const double x = factor * double(scores[i]); x > top - 1) candidates.push_back(x);
  if (alpha_ != 2 && alpha_ != 1.5) return Real(bracketed_threshold(candidates, top, exponent_));
  std::ranges::sort(candidates, std::greater());
  return Real(alpha_ == 2 ? sparsemax_threshold(candidates) : entmax15_threshold(candidates));
}

void Entmax::weigh(Real* row, Index n, Real threshold) const {
  const Real factor = Real(alpha_ - 1), power = Real(exponent_);
  const auto above = [&](Real score) { return std::max(factor * score - threshold, Real(0)); };
  if (alpha_ == 2) {
    for (Index i = 0; i < n; ++i) row[i] = above(row[i]);
  } else if (alpha_ == 1.5) {
    for (Index i = 0; i < n; ++i) {
      const Real root = above(row[i]);
      row[i] = root * root;
    }
  } else {
    for (Index i = 0; i < n; ++i)
      if (const Real x = above(row[i]); x > 0)
        row[i] = std::pow(x, power);
      else
        row[i] = 0;
  }
}

Real Entmax::slope(Real weight) const {
  return alpha_ == 2 ? 1 : alpha_ == 1.5 ? std::sqrt(weight) : std::pow(weight, Real(2 - alpha_));
}

void Entmax::pull_back(const Real* weights, Real* gradients, Real delta, Index n) const {
  for (Index i = 0; i < n; ++i)
    gradients[i] = weights[i] > 0 ? slope(weights[i]) * (gradients[i] - delta) : 0;
}

}  // namespace weft::layers
