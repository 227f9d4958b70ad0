#include "layers/attention/chosen/packed_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/simd/kernels.h"

namespace weft::layers {

void PackedRows::append(const Real* row) {
  const Index column = count_ % tile_rows, first = count_ / tile_rows * width_ * tile_rows;
  if (column == 0) tiles_.resize(std::size_t(first + width_ * tile_rows), Real(0));
  for (Index d = 0; d < width_; ++d) tiles_[std::size_t(first + d * tile_rows + column)] = row[d];
  ++count_;
}

void PackedRows::multiply_tile(const Real* x, Index tile, Real* products) const {
  core::simd().project(x, tiles_.data() + tile * width_ * tile_rows, products, width_, tile_rows);
}

void PackedRows::multiply(const Real* x, Index count, std::vector<Real>& products) const {
  products.resize(std::size_t(tiles(count) * tile_rows));
  for (Index tile = 0; tile < tiles(count); ++tile)
    multiply_tile(x, tile, products.data() + tile * tile_rows);
}

void append_best(std::span<const Real> scores, Index count, std::vector<std::int32_t>& numbers) {
  const std::size_t first = numbers.size(), all = scores.size();
  if (Index(all) <= count) {
    numbers.resize(first + all);
    std::iota(numbers.begin() + std::ptrdiff_t(first), numbers.end(), 0);
    return;
  }
  if (count == 0) return;
  const auto score_of = [&](std::int32_t i) {
    const Real score = scores[std::size_t(i)];
    return score == score ? score : -std::numeric_limits<Real>::infinity();
  };
  const auto is_better = [&](std::int32_t a, std::int32_t b) {
    return score_of(a) > score_of(b) || (score_of(a) == score_of(b) && a > b);
  };
  // A heap of the best so far with the worst of them on top.
  for (std::int32_t i = 0; i < std::int32_t(all); ++i) {
    const auto begin = numbers.begin() + std::ptrdiff_t(first);
    if (Index(numbers.end() - begin) == count) {
      if (!is_better(i, *begin)) continue;
      std::pop_heap(begin, numbers.end(), is_better);
      numbers.pop_back();
    }
    numbers.push_back(i);
    std::push_heap(numbers.begin() + std::ptrdiff_t(first), numbers.end(), is_better);
  }
  std::sort(numbers.begin() + std::ptrdiff_t(first), numbers.end());
}

}  // namespace weft::layers
