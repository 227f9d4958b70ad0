#pragma once

#include <span>
#include <vector>

#include "core/real.h"

namespace weft::layers {

using core::Index;
using core::Real;

/// Rows that queries are compared with, appended one by one. They lie in tiles of columns, so that
/// a product has the same bits however many rows there are, in a whole pass as in decoding.
class PackedRows {
 public:
  explicit PackedRows(Index width) : width_(width) {}

  /// row: [width]
  void append(const Real* row);
  Index count() const { return count_; }
  Index bytes() const { return Index(tiles_.size() * sizeof(Real)); }

  /// The products of x with the first `count` rows.
  /// x: [width] -> products: [count], in room that is rounded up to whole tiles
  void multiply(const Real* x, Index count, std::vector<Real>& products) const;

  /// The same for the rows of one tile; rows after the last are zeros.
  /// x: [width] -> products: [tile_rows]
  void multiply_tile(const Real* x, Index tile, Real* products) const;
  static constexpr Index tile_rows = 64;
  static Index tiles(Index count) { return (count + tile_rows - 1) / tile_rows; }

  /// Floating-point operations of one product of x with all rows.
  static Index flops(Index width, Index count) { return 2 * width * count; }

 private:
  Index width_, count_ = 0;
  std::vector<Real> tiles_;  ///< [tiles, width, tile_rows]
};

/// Appends the numbers of the `count` largest scores, ascending; all of them where there are fewer.
/// Of equal scores the later ones are taken.
void append_best(std::span<const Real> scores, Index count, std::vector<std::int32_t>& numbers);

}  // namespace weft::layers
