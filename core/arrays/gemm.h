#pragma once

#include <string>

#include "core/arrays/operand.h"
#include "core/precision.h"

namespace weft::core {

/// c = alpha a b + beta c on the calling thread; for tiles inside tasks. Where one factor is
/// rounded to bfloat16 the other is too, and sums are Real: by oneDNN where the processor has bf16
/// instructions, else as emulated_bf16_gemm.
void gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// The same with both factors rounded here where the precision says so: for small tiles, whose
/// factors are in no other product.
void gemm(Precision precision, Real alpha, const Operand& a, const Operand& b, Real beta,
          const Matrix& c);

/// Both factors rounded to bfloat16 and multiplied as Real: slower, and other bits than oneDNN's.
void emulated_bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// What multiplies bfloat16 here, e.g. "oneDNN 2.6.3", or "float" where it is emulated; a run
/// records it. WEFT_ISA below avx512 emulates.
std::string bf16_library();

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
