#pragma once

#include "core/arrays/gemm.h"

namespace weft::core {

/// y += m x for one vector, at the speed at which memory gives the matrix: what decoding one token
/// at a time is made of. Rows are shared out in pieces that depend on the shape only, and each sum
/// runs over its row in one order, so any number of threads gives the same bits.
/// m: [rows, cols], x: [cols], y: [rows]
void multiply_vector(const ConstMatrix& m, const Real* x, Real* y);

/// The same for several vectors at once: each gets the bits that it gets alone, and the matrix is
/// read from memory once for all.  m: [rows, cols], x: [n, cols], y: [n, rows]
void multiply_vectors(const ConstMatrix& m, const ConstMatrix& x, const Matrix& y);

}  // namespace weft::core
