#pragma once

#include "core/arrays/operand.h"

namespace weft::core {

/// This processor has AVX-512, and WEFT_ISA allows it.
bool avx512_multiplies();

/// c = alpha a b + beta c by weft's own kernel on the calling thread; both factors are Real, no
/// size is 0. An element's terms are added up in an order that depends on their number alone, and
/// on how the factors lie in memory.
void avx512_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

}  // namespace weft::core
