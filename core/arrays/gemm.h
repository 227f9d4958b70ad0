#pragma once

#include <string>

#include "core/arrays/matrix.h"
#include "core/precision.h"

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

/// Rows [first, first + count) of a factor as it stands in the product.
Operand row_panel(const Operand& f, Index first, Index count);

/// c = alpha a b + beta c on the calling thread; for tiles inside tasks. Where one factor is
/// rounded to bfloat16 the other is too, and sums are Real (see bf16_gemm.h).
void gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// The same with both factors rounded here where the precision says so: for small tiles, whose
/// factors are in no other product.
void gemm(Precision precision, Real alpha, const Operand& a, const Operand& b, Real beta,
          const Matrix& c);

/// The same for large products, split over panels of c that depend on the shapes only.
void parallel_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// How many rows of a result one task should make: enough to run at full speed, few enough that
/// small results still keep several threads busy.
Index rows_per_panel(Index rows);

/// OpenBLAS must not start threads of its own: it is called inside tasks. Every function that calls
/// it says so first.
void keep_blas_on_one_thread();

/// The kernel set that OpenBLAS runs, e.g. "Haswell"; a run records it.
std::string blas_core();

/// OpenBLAS picks its kernels when it is loaded, and falls back to slow generic ones on CPUs newer
/// than itself. Returns the name of a better set for this CPU, or "" when its choice is right;
/// the program then starts itself anew with OPENBLAS_CORETYPE set to it.
std::string better_blas_core();

}  // namespace weft::core
