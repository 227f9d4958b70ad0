#include "core/arrays/openblas.h"

#include <cblas.h>

#include <algorithm>

#include "core/arrays/gemm.h"
#include "core/counters.h"

namespace weft::core {
namespace {

CBLAS_TRANSPOSE flag(const Operand& f) { return f.transposed ? CblasTrans : CblasNoTrans; }

}  // namespace

void openblas_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  keep_blas_on_one_thread();
  const auto m = blasint(c.rows), n = blasint(c.cols), k = blasint(a.cols());
  const auto lda = blasint(std::max<Index>(1, a.matrix.stride));
  const auto ldb = blasint(std::max<Index>(1, b.matrix.stride));
  const auto ldc = blasint(c.stride);
#ifdef WEFT_DOUBLE
  cblas_dgemm(CblasRowMajor, flag(a), flag(b), m, n, k, alpha, a.matrix.data, lda, b.matrix.data,
              ldb, beta, c.data, ldc);
#else
  cblas_sgemm(CblasRowMajor, flag(a), flag(b), m, n, k, alpha, a.matrix.data, lda, b.matrix.data,
              ldb, beta, c.data, ldc);
#endif
  counters().flops.fetch_add(2 * c.rows * c.cols * a.cols(), std::memory_order_relaxed);
}

}  // namespace weft::core
