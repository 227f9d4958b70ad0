#pragma once

#include "core/arrays/matrix.h"

namespace weft::core {

/// One side of a product, as stored or transposed; its numbers are Real, or rounded to bfloat16.
struct Operand {
  Operand(ConstMatrix m, bool flip = false) : matrix(m), transposed(flip) {}
  Operand(Matrix m) : matrix(m), transposed(false) {}
  Operand(Bf16Matrix m, bool flip = false)
      : matrix{nullptr, m.rows, m.cols, m.stride}, transposed(flip), rounded(m.data) {}
  ConstMatrix matrix;  ///< without data where the numbers are rounded
  bool transposed;
  const Bf16* rounded = nullptr;
  Index rows() const { return transposed ? matrix.cols : matrix.rows; }
  Index cols() const { return transposed ? matrix.rows : matrix.cols; }
};
inline Operand transposed(ConstMatrix m) { return {m, true}; }
inline Operand transposed(Matrix m) { return {m, true}; }
inline Operand transposed(Operand f) {
  f.transposed = !f.transposed;
  return f;
}

/// Rows [first, first + count) of a factor as the product reads it.
inline Operand row_panel(const Operand& f, Index first, Index count) {
  Operand panel = f;
  const Index offset = f.transposed ? first : first * f.matrix.stride;
  (f.transposed ? panel.matrix.cols : panel.matrix.rows) = count;
  if (f.rounded)
    panel.rounded += offset;
  else
    panel.matrix.data += offset;
  return panel;
}

}  // namespace weft::core
