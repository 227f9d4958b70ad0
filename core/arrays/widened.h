#pragma once

#include "core/arrays/matrix.h"

namespace weft::core {

/// The numbers that n bfloat16s stand for.
void widen_bf16(const Bf16* from, Real* to, Index n);

}  // namespace weft::core
