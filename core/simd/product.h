#pragma once

#include "core/real.h"

namespace weft::core {

/// c = alpha a b + beta c. a is [m, k], b is [k, n], with any distance from row to row and from
/// column to column, of which one is 1; rows of c have no gaps between columns.
struct StridedProduct {
  Index m, n, k;
  Real alpha, beta;
  const Real* a;
  Index a_row, a_col;
  const Real* b;
  Index b_row, b_col;
  Real* c;
  Index c_row;

  /// How many terms are added up in registers before they are added to c.
  static constexpr Index depth = 256;
  /// Rows of a that meet a panel of b while it is in cache, and columns of the panel.
  static constexpr Index tall = 256, wide = 32;
  /// Numbers that `multiply` needs room for.
  static constexpr Index room = (depth + 8) * wide;
};

namespace avx512 {
/// The sums of an element run over k in order, whatever m and n are. room: [StridedProduct::room],
/// aligned to 64 bytes
void multiply(const StridedProduct& product, Real* room);
}  // namespace avx512

}  // namespace weft::core
