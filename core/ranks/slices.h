#pragma once

#include <functional>
#include <span>

#include "core/parallel.h"
#include "core/ranks/tree_sum.h"

namespace weft::core {

/// Which rank owns which parts of a flat array of `size` numbers. The array is cut into buckets,
/// each of which is shared out over all ranks, so that a bucket can be summed while others are
/// still being computed and no rank waits for another's. A small array leaves ranks without a
/// stretch.
class Slices {
 public:
  /// The last place at or before a given one at which an array may be cut: it must not decrease
  /// when its argument grows. By default multiples of `elementwise_grain`, at which loops are cut
  /// too.
  using Cut = std::function<Index(Index)>;

  /// Small enough that little is left to send when the sweep or the step has ended.
  static constexpr Index bucket_numbers = Index(1) << 18;
  Slices(Index size, Index ranks, Index bucket = bucket_numbers, const Cut& cut = {});

  Index size() const { return size_; }
  Index ranks() const { return ranks_; }
  Index buckets() const { return Index(cuts_.size() - 1) / ranks_; }
  Stretch bucket(Index number) const;
  /// What a rank owns of a bucket; may be empty.
  Stretch of(Index bucket, Index rank) const;
  /// All of that, ascending, without empty ones.
  std::vector<Stretch> owned(Index rank) const;
  /// How many numbers a rank owns.
  Index count(Index rank) const;

 private:
  Index size_, ranks_;
  std::vector<Index> cuts_;  ///< `ranks` stretches for each bucket, and the end
};

/// What a stretch is of an array.
inline std::span<Real> numbers_of(std::span<Real> all, Stretch stretch) {
  return all.subspan(std::size_t(stretch.begin), std::size_t(stretch.size()));
}

}  // namespace weft::core
