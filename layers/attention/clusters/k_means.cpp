#include "layers/attention/clusters/k_means.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

constexpr Index rows_per_piece = 256;

const Real* row(const Tensor& x, Index i) { return x.data() + i * x.shape().back(); }

double squared_distance(const Real* a, const Real* b, Index width) {
  double total = 0;
  for (Index d = 0; d < width; ++d) total += double(a[d] - b[d]) * double(a[d] - b[d]);
  return total;
}

struct Nearest {
  Index centre = 0;
  double distance = 0;
};

std::vector<Nearest> nearest_centres(const Tensor& x, const Tensor& centres) {
  const Index n = x.shape()[0], k = centres.shape()[0], width = x.shape()[1];
  std::vector<Nearest> nearest(static_cast<std::size_t>(n));
  core::parallel_for(n, rows_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Nearest best{0, std::numeric_limits<double>::infinity()};
      for (Index c = 0; c < k; ++c) {
        const double distance = squared_distance(row(x, i), row(centres, c), width);
        if (distance < best.distance) best = {c, distance};
      }
      nearest[std::size_t(i)] = best;
    }
  });
  return nearest;
}

void set_length(std::span<Real> centre, Real length) {
  const Index n = Index(centre.size());
  const Real own = std::sqrt(core::simd().dot(centre.data(), centre.data(), n));
  if (own > 0) core::simd().scale(length / own, centre.data(), n);
}

/// Moves each centre to the mean of its rows; an empty one to the row farthest from its centre.
void move_centres(const Tensor& x, std::vector<Nearest>& nearest, Tensor& centres, Real length) {
  const Index k = centres.shape()[0], width = centres.shape()[1];
  std::vector<double> sums(std::size_t(k * width), 0.0);
  std::vector<Index> counts(std::size_t(k), 0);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const Index c = nearest[i].centre;
    ++counts[std::size_t(c)];
    for (Index d = 0; d < width; ++d) sums[std::size_t(c * width + d)] += row(x, Index(i))[d];
  }
  for (Index c = 0; c < k; ++c) {
    const std::span<Real> centre =
        centres.write().subspan(std::size_t(c * width), std::size_t(width));
    if (counts[std::size_t(c)] > 0) {
      for (Index d = 0; d < width; ++d)
        centre[std::size_t(d)] =
            Real(sums[std::size_t(c * width + d)] / double(counts[std::size_t(c)]));
    } else {
      const auto far = std::ranges::max_element(nearest, {}, &Nearest::distance);
      std::copy_n(row(x, far - nearest.begin()), width, centre.begin());
      for (std::size_t i = 0; i < nearest.size(); ++i) {
        const double distance = squared_distance(row(x, Index(i)), centre.data(), width);
        if (distance < nearest[i].distance) nearest[i] = {c, distance};
      }
    }
    if (length > 0) set_length(centre, length);
  }
}

}  // namespace

Tensor sampled_rows(const core::Rng& rng, const Tensor& x, Index count) {
  const Index n = x.shape()[0], width = x.shape()[1];
  core::require(n > 0, "k-means: no rows to sample centres from");
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index(0));
  Tensor centres({count, width});
  for (Index c = 0; c < count; ++c) {
    const Index place = c % n;
    const Index other = place + rng.below(std::uint64_t(c), n - place);
    std::swap(order[std::size_t(place)], order[std::size_t(other)]);
    std::copy_n(row(x, order[std::size_t(place)]), width, centres.write().data() + c * width);
  }
  return centres;
}

Tensor spread_rows(const core::Rng& rng, const Tensor& x, Index count) {
  const Index n = x.shape()[0], width = x.shape()[1];
  core::require(n > 0, "k-means++: no rows to choose centres from");
  Tensor centres({count, width});
  std::vector<double> distance(std::size_t(n), std::numeric_limits<double>::infinity());
  Index chosen = rng.below(0, n);
  for (Index c = 0; c < count; ++c) {
    std::copy_n(row(x, chosen), width, centres.write().data() + c * width);
    double total = 0;
    for (Index i = 0; i < n; ++i) {
      double& own = distance[std::size_t(i)];
      own = std::min(own, squared_distance(row(x, i), row(x, chosen), width));
      total += own;
    }
    double left = rng.uniform(std::uint64_t(c) + 1) * total;
    for (chosen = 0; chosen + 1 < n; ++chosen)
      if ((left -= distance[std::size_t(chosen)]) < 0) break;
  }
  return centres;
}

Clustering cluster(const Tensor& x, Tensor centres, Index most_rounds, Real length) {
  core::require(x.shape().rank() == 2 && centres.shape().rank() == 2 &&
                    x.shape()[1] == centres.shape()[1] && centres.shape()[0] > 0,
                "k-means: rows ", x.shape(), " and centres ", centres.shape());
  Clustering result;
  result.centres = std::move(centres);
  for (;; ++result.rounds) {
    std::vector<Nearest> nearest = nearest_centres(x, result.centres);
    std::vector<std::uint16_t> labels;
    result.objective = 0;
    for (const Nearest& own : nearest) {
      labels.push_back(std::uint16_t(own.centre));
      result.objective += own.distance;
    }
    if (std::exchange(result.labels, labels) == labels || result.rounds == most_rounds) {
      result.labels = std::move(labels);
      return result;
    }
    move_centres(x, nearest, result.centres, length);
  }
}

}  // namespace weft::layers
