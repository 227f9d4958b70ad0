#pragma once

#include <algorithm>
#include <cmath>

#include "core/simd/kernels.h"
#include "layers/attention/features/feature_map.h"

namespace weft::layers {

/// Stands for the largest of no keys: below every logarithm, and far enough from infinity for
/// differences.
inline constexpr Real no_key = Real(-1e30);

/// What a sweep carries from chunk to chunk: one row of sums [D] and one total for each feature.
/// Where features are logarithms, sums are kept in units of e^reference, by feature. A sweep
/// forward only raises references and a sweep backward only lowers them; in both a sum can only
/// shrink when its reference changes, and none overflows.
class CarriedSums {
 public:
  CarriedSums(Real* data, Index features, Index width)
      : data_(data), features_(features), width_(width) {}
  static Index size(Index features, Index width) { return features * (width + 2); }

  void clear() {
    std::fill_n(data_, features_ * (width_ + 1), Real(0));
    std::fill_n(reference(), features_, no_key);
  }
  /// The same sums, in other memory.
  void copy(const CarriedSums& other) { std::copy_n(other.data_, size(features_, width_), data_); }

  core::Matrix sums() const { return {data_, features_, width_, width_}; }
  Real* totals() const { return data_ + features_ * width_; }
  Real* reference() const { return totals() + features_; }

  void refer(const Real* to) {
    Real* from = reference();
    for (Index c = 0; c < features_; ++c) {
      if (from[c] == to[c]) continue;
      const Real shrink = std::exp(-std::abs(to[c] - from[c]));
      core::simd().scale(shrink, data_ + c * width_, width_);
      totals()[c] *= shrink;
      from[c] = to[c];
    }
  }
  /// Adds sums of the same reference.
  void add(const CarriedSums& other) {
    core::simd().add(other.data_, data_, data_, features_ * (width_ + 1));
  }

 private:
  Real* data_;
  Index features_, width_;
};

}  // namespace weft::layers
