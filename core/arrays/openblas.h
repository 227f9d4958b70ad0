#pragma once

#include "core/arrays/operand.h"

namespace weft::core {

/// OpenBLAS must not start threads, since it is called inside tasks. Every function that calls
/// it says so first.
void keep_blas_on_one_thread();

/// c = alpha a b + beta c by OpenBLAS on the calling thread, whatever its shape; both factors are
/// Real, c has at least one number.
void openblas_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

}  // namespace weft::core
