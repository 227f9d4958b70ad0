#include "optim/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/parallel.h"

namespace weft::optim {
namespace {

// Several independent sums, so that an addition need not wait for the previous one.
constexpr std::size_t lanes = 8;

double sum_of_squares(std::span<const core::Real> x) {
  std::array<double, lanes> sums{};
  for (; x.size() >= lanes; x = x.subspan(lanes))
    for (std::size_t i = 0; i < lanes; ++i) sums[i] += double(x[i]) * double(x[i]);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] += double(x[i]) * double(x[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double gradient_norm(std::span<const core::Real> gradients) {
  constexpr core::Index grain = core::elementwise_grain;
  const auto count = core::Index(gradients.size());
  std::vector<double> pieces(std::size_t((count + grain - 1) / grain));
  core::parallel_for(count, grain, [&](core::Index begin, core::Index end) {
    pieces[std::size_t(begin / grain)] =
        sum_of_squares(gradients.subspan(std::size_t(begin), std::size_t(end - begin)));
  });
  return std::sqrt(std::accumulate(pieces.begin(), pieces.end(), 0.0));
}

double gradient_norm(const autograd::ParameterArena& arena) {
  const double dense = gradient_norm(arena.dense_gradients());
  double squares = 0;
  for (const auto& slot : arena.slots())
    if (slot.sparse)
      for (const core::Index row : *slot.touched)
        squares += sum_of_squares(arena.row_gradient(slot, row));
  return squares == 0 ? dense : std::sqrt(dense * dense + squares);
}

double clipping_scale(double norm, double clip) {
  constexpr double guard = 1e-6;
  return clip > 0 ? std::min(1.0, clip / (norm + guard)) : 1;
}

}  // namespace weft::optim
