#include "core/ranks/slices.h"

#include <algorithm>

#include "core/error.h"

namespace weft::core {

Slices::Slices(Index size, Index ranks, Index bucket, const Cut& cut) : size_(size), ranks_(ranks) {
  require(size >= 0 && ranks >= 1 && bucket >= 1, "slices: ", size, " numbers for ", ranks,
          " ranks in buckets of ", bucket);
  const auto place = [&](Index wanted) {
    if (wanted >= size) return size;
    return cut ? cut(wanted) : wanted / elementwise_grain * elementwise_grain;
  };
  // A bucket is large enough for every rank to own a piece of it.
  const Index whole = std::max(bucket, ranks * elementwise_grain);
  const Index count = std::max<Index>(1, (size + whole - 1) / whole);
  for (Index b = 0; b < count; ++b) {
    const Index begin = b * whole, length = std::min(whole, size - begin);
    for (Index r = 0; r < ranks; ++r) cuts_.push_back(place(begin + length * r / ranks));
  }
  cuts_.push_back(size);
}

Stretch Slices::bucket(Index number) const {
  return {cuts_[std::size_t(number * ranks_)], cuts_[std::size_t((number + 1) * ranks_)]};
}

Stretch Slices::of(Index bucket, Index rank) const {
  const auto at = std::size_t(bucket * ranks_ + rank);
  return {cuts_[at], cuts_[at + 1]};
}

std::vector<Stretch> Slices::owned(Index rank) const {
  std::vector<Stretch> all;
  for (Index b = 0; b < buckets(); ++b)
    if (const Stretch range = of(b, rank); range.size() > 0) all.push_back(range);
  return all;
}

Index Slices::count(Index rank) const {
  Index sum = 0;
  for (const Stretch& range : owned(rank)) sum += range.size();
  return sum;
}

}  // namespace weft::core
