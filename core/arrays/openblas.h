#pragma once

#include "core/arrays/operand.h"

namespace weft::core {

/// c = alpha a b + beta c by OpenBLAS on the calling thread, whatever its shape; both factors are
/// Real, c has at least one number.
void openblas_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

}  // namespace weft::core
