#include "layers/attention/features/orthogonal_features.h"

#include <cmath>
#include <vector>

namespace weft::layers {
namespace {

using core::Index;
using Rows = std::vector<std::vector<double>>;

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double total = 0;
  for (std::size_t d = 0; d < x.size(); ++d) total += x[d] * y[d];
  return total;
}

std::vector<double> normal_vector(const core::Rng& rng, Index row, Index width) {
  std::vector<double> x;
  for (Index d = 0; d < width; ++d) x.push_back(rng.normal(std::uint64_t(row * width + d)));
  return x;
}

/// Takes the directions of `block` out of x, twice for the sake of rounding, and gives it length 1.
void orthonormalise(std::vector<double>& x, const Rows& block) {
  for (int round = 0; round < 2; ++round)
    for (const auto& other : block) {
      const double along = dot(x, other);
      for (std::size_t d = 0; d < x.size(); ++d) x[d] -= along * other[d];
    }
  const double length = std::sqrt(dot(x, x));
  for (double& v : x) v /= length;
}

}  // namespace

void draw_orthogonal_features(std::span<core::Real> out, Index rows, Index width,
                              const core::Rng& rng) {
  const core::Rng directions = rng.fold("directions"), lengths = rng.fold("lengths");
  Rows block;
  for (Index r = 0; r < rows; ++r) {
    if (r % width == 0) block.clear();
    std::vector<double> x = normal_vector(directions, r, width);
    orthonormalise(x, block);
    const std::vector<double> other = normal_vector(lengths, r, width);
    const double length = std::sqrt(dot(other, other));
    for (Index d = 0; d < width; ++d)
      out[std::size_t(r * width + d)] = core::Real(length * x[std::size_t(d)]);
    block.push_back(std::move(x));
  }
}

}  // namespace weft::layers
