#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::layers {

/// Scores become weights, in double: softmax at alpha 1, else entmax with its threshold halved in
/// on. Scores of -infinity get 0, as all do when there is no other.
inline void naive_weights(std::vector<double>& row, double alpha) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double top = -infinity;
  for (const double score : row) top = std::max(top, score);
  const auto weight = [&](double score, double threshold) {
    if (alpha == 1) return std::exp(score - top);
    const double x = (alpha - 1) * (score - top) - threshold;
    return x > 0 ? std::pow(x, 1 / (alpha - 1)) : 0.0;
  };
  const auto total = [&](double threshold) {
    double sum = 0;
    for (const double score : row) sum += weight(score, threshold);
    return sum;
  };
  if (top == -infinity) {
    std::ranges::fill(row, 0.0);
    return;
  }
  double low = -1, high = 0;
  for (int i = 0; alpha != 1 && i < 100; ++i)
    (total((low + high) / 2) > 1 ? low : high) = (low + high) / 2;
  const double sum = total(low);
  for (double& score : row) score = weight(score, low) / sum;
}

}  // namespace weft::layers
