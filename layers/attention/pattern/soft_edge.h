#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/real.h"
#include "core/simd/kernels.h"

namespace weft::layers {

using core::Index;
using core::Real;

/// How many keys before a query count, from the nearest on: `full` of them wholly, those up to
/// `length` by their share of the ramp, the rest not at all. Decided once from the reach and then
/// kept, so that a replay cuts where the first pass cut. A negative reach is `held` at 0.
struct Extent {
  std::int32_t full = 0, length = 0;
  bool held = false;
};

/// A soft far end of what a query reads. The key x places before the nearest one counts
///   m = 1 for x < full,   (width + reach - x) / width for x < length,   else 0
/// and its weight is m e^score / sum (m + eps) e^score. Only keys on the ramp, full <= x < length,
/// pass a gradient to the reach: dm / dreach = 1 / width there and 0 elsewhere.
struct SoftEdge {
  Real width = 1, eps = 0;
  const Real* reach = nullptr;                         ///< [H] for all tokens alike, or [B n, H]
  Index token_step = 0;                                ///< 0 or H
  std::shared_ptr<const std::vector<Extent>> extents;  ///< in the same layout
};

/// The soft edge of one query's row, in the columns of a panel.
class SoftRow {
 public:
  /// `nearest`: the column of the nearest key, which may lie outside the panel.
  SoftRow(const SoftEdge& edge, Index token, Index head, Index nearest)
      : width_(edge.width),
        eps_(edge.eps),
        extent_((*edge.extents)[std::size_t(token * edge.token_step + head)]),
        reach_(extent_.held ? 0 : edge.reach[token * edge.token_step + head]),
        nearest_(nearest) {}

  /// What the key in a column counts.
  Real share(Index column) const {
    const Index x = nearest_ - column;
    if (x < extent_.full) return 1;
    return x < extent_.length ? (width_ + (reach_ - Real(x))) / width_ : 0;
  }

  /// The first of the columns [a, b) that adds to the row's sum; a key at the very end of the ramp
  /// counts nothing and only pulls at the reach.
  Index first_summed(Index a, Index b) const {
    while (eps_ == 0 && a < b && share(a) == 0) ++a;
    return a;
  }

  /// Turns the scores in columns [a, b) into weights exp(score - top), those in the ramp by their
  /// share; returns what they add to the row's sum.
  Real weigh(Real* row, Index a, Index b, Real top) const {
    const Index summed = first_summed(a, b), whole = first_whole(summed, b);
    std::fill(row + a, row + summed, Real(0));
    const Real mass = core::simd().exp_sum(row + summed, 1, top, whole - summed);
    const Real rest = core::simd().exp_sum(row + whole, 1, top, b - whole);
    Real soft = 0;
    for (Index c = summed; c < whole; ++c) soft += row[c] *= share(c);
    return soft + rest + eps_ * (mass + rest);
  }

  /// p holds exp(score - log_sum) and ds the weights' gradients; makes them the weights and the
  /// scores' gradients, and returns the reach's gradient.
  Real pull_back(Real* p, Real* ds, Real delta, Index a, Index b) const {
    const Index whole = first_whole(a, b);
    Real dreach = 0;
    for (Index c = a; c < whole; ++c) {
      const Real m = share(c);
      if (nearest_ - c < extent_.length) dreach += std::min(p[c], strongest) * (ds[c] - delta);
      const bool summed = m + eps_ > 0;
      ds[c] = summed ? p[c] * (m * ds[c] - (m + eps_) * delta) : 0;
      p[c] = summed ? p[c] * m : 0;
    }
    core::simd().score_gradient(p + whole, ds + whole, (1 + eps_) * delta, 1, b - whole);
    return extent_.held ? 0 : dreach / width_;
  }

 private:
  /// The first of the columns [a, b) that counts wholly.
  Index first_whole(Index a, Index b) const {
    return std::clamp<Index>(nearest_ - extent_.full + 1, a, b);
  }

  /// A key that counts nothing may outweigh all that count, by any factor; it pulls by this at
  /// most.
  static constexpr Real strongest = Real(1e8);

  Real width_, eps_;
  Extent extent_;
  Real reach_;
  Index nearest_;
};

}  // namespace weft::layers
