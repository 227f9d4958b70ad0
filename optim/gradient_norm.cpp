#include "optim/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/parallel.h"
#include "core/ranks/slice_sum.h"

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

std::vector<double> sums_of_squares(std::span<const core::Real> values,
                                    std::span<const core::Stretch> pieces, const Sharing& sharing) {
  std::vector<double> sums(pieces.size(), 0.0);
  const auto from = [&](core::Index place) {
    return std::ranges::lower_bound(pieces, place, {}, &core::Stretch::begin) - pieces.begin();
  };
  for (const core::Stretch& own : sharing.owned(core::Index(values.size()))) {
    const core::Index first = from(own.begin);
    core::parallel_for(from(own.end) - first, 1, [&](core::Index i, core::Index) {
      const core::Stretch& piece = pieces[std::size_t(first + i)];
      sums[std::size_t(first + i)] =
          sum_of_squares(values.subspan(std::size_t(piece.begin), std::size_t(piece.size())));
    });
  }
  if (sharing.ranks) core::share_pieces(*sharing.ranks, *sharing.slices, pieces, sums);
  return sums;
}

double gradient_norm(std::span<const core::Real> gradients, const Sharing& sharing) {
  const auto count = core::Index(gradients.size());
  std::vector<core::Stretch> pieces;
  for (core::Index at = 0; at < count; at += core::elementwise_grain)
    pieces.push_back({at, std::min(count, at + core::elementwise_grain)});
  const std::vector<double> sums = sums_of_squares(gradients, pieces, sharing);
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

double gradient_norm(const autograd::ParameterArena& arena, const Sharing& sharing) {
  const double dense = gradient_norm(arena.dense_gradients(), sharing);
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
