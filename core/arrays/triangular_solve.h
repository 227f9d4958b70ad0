#pragma once

#include "core/arrays/gemm.h"

namespace weft::core {

/// x = (I + a)^-1 x in place, on the calling thread, where a holds numbers below its diagonal and
/// nothing else is read of it. With `a` transposed, x = (I + a^T)^-1 x. Without the flag, row i of
/// the result depends on rows up to i alone, bit for bit.
/// a: [n, n], x: [n, cols]
void solve_unit_lower(const Operand& a, const Matrix& x);

}  // namespace weft::core
