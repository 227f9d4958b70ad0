#pragma once

#include <string>

#include "core/arrays/gemm.h"

namespace weft::core {

/// c = alpha a b + beta c with both factors rounded to bfloat16 and sums in Real, on the calling
/// thread. Called by gemm when a factor is rounded already. By oneDNN where the processor has bf16
/// instructions, else by OpenBLAS on the rounded numbers: slower, and other bits.
void bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// The second way: the rounded numbers as Real.
void emulated_bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// What multiplies bfloat16 here, e.g. "oneDNN 2.6.3", or "float" where it is emulated; a run
/// records it. WEFT_ISA below avx512 emulates.
std::string bf16_library();

}  // namespace weft::core
