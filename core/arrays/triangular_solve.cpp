#include "core/arrays/triangular_solve.h"

#include <cblas.h>

#include <algorithm>

#include "core/arrays/openblas.h"
#include "core/counters.h"
#include "core/error.h"

namespace weft::core {

void solve_unit_lower(const Operand& a, const Matrix& x) {
  require(a.rows() == x.rows && a.cols() == x.rows, "solve_unit_lower: [", a.rows(), ", ", a.cols(),
          "] for [", x.rows, ", ", x.cols, "]");
  if (x.rows == 0 || x.cols == 0) return;
  keep_blas_on_one_thread();
  const CBLAS_TRANSPOSE flag = a.transposed ? CblasTrans : CblasNoTrans;
  const auto n = blasint(x.rows), cols = blasint(x.cols);
  const auto lda = blasint(std::max<Index>(1, a.matrix.stride)), ldx = blasint(x.stride);
#ifdef WEFT_DOUBLE
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, flag, CblasUnit, n, cols, 1, a.matrix.data, lda,
              x.data, ldx);
#else
  cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, flag, CblasUnit, n, cols, 1, a.matrix.data, lda,
              x.data, ldx);
#endif
  counters().flops.fetch_add(x.rows * x.rows * x.cols, std::memory_order_relaxed);
}

}  // namespace weft::core
