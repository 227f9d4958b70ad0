#pragma once

#include <string>

#include "core/arrays/operand.h"

namespace weft::core {

/// weft was built with oneDNN, and this processor has AVX-512. Not in the double twin.
bool onednn_multiplies_float();

/// It also multiplies bfloat16 in hardware.
bool onednn_multiplies_bf16();

/// c = alpha a b + beta c on the calling thread; both factors are rounded or neither is, no size
/// is 0.
void onednn_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c);

/// "oneDNN 2.6.3"
std::string onednn_version();

}  // namespace weft::core
