#pragma once

#include <string>

#include "core/arrays/operand.h"

namespace weft::core {

/// What multiplies factors of Real, as a run records it: "OpenBLAS" alone; weft's own kernel for
/// all but small products, "weft 1"; or oneDNN where it is faster than OpenBLAS, "oneDNN 2.6.3 by
/// shape". The choice moves bits; it never depends on the number of threads. WEFT_PRODUCTS =
/// openblas | weft | onednn makes it, else the machine does.
std::string float_products();

/// What a run recorded that was made before there was a choice.
inline constexpr const char* products_of_old = "OpenBLAS";

/// Multiplies from now on as a run recorded it; false, and nothing changes, where this machine or
/// WEFT_PRODUCTS does not allow it. Not while anything multiplies.
bool use_float_products(const std::string& recorded);

enum class Multiplier { openblas, onednn, avx512 };

/// What makes this product; depends on its shape and on what is in use.
Multiplier multiplier_of(const Operand& a, const Operand& b, const Matrix& c);

}  // namespace weft::core
