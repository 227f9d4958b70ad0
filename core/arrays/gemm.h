#pragma once

#include <string>

#include "core/real.h"

namespace weft::core {

/// A matrix in memory: rows x cols, `stride` elements from one row to the next.
struct ConstMatrix {
  const Real* data;
  Index rows, cols, stride;
  const Real* row(Index r) const { return data + r * stride; }
};
struct Matrix {
  Real* data;
  Index rows, cols, stride;
  Real* row(Index r) const { return data + r * stride; }
  operator ConstMatrix() const { return {data, rows, cols, stride}; }
};

/// One side of a product, as stored or transposed.
struct Operand {
  Operand(ConstMatrix m, bool flip = false) : matrix(m), transposed(flip) {}
  Operand(Matrix m) : matrix(m), transposed(false) {}
  ConstMatrix matrix;
  bool transposed;
  Index rows() const { return transposed ? matrix.cols : matrix.rows; }
  Index cols() const { return transposed ? matrix.rows : matrix.cols; }
};
inline Operand transposed(ConstMatrix m) { return {m, true}; }

/// c = alpha a b + beta c on the calling thread; for tiles inside tasks.
void gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// The same for large products, split over panels of c that depend on the shapes only.
void parallel_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// How many rows of a result one task should make: enough to run at full speed, few enough that
/// small results still keep several threads busy.
Index rows_per_panel(Index rows);

/// The kernel set that OpenBLAS runs, e.g. "Haswell"; a run records it.
std::string blas_core();

/// OpenBLAS picks its kernels when it is loaded, and falls back to slow generic ones on CPUs newer
/// than itself. Returns the name of a better set for this CPU, or "" when its choice is right;
/// the program then starts itself anew with OPENBLAS_CORETYPE set to it.
std::string better_blas_core();

}  // namespace weft::core
