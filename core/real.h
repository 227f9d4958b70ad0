#pragma once

#include <cstdint>

namespace weft::core {

/// The number type of every tensor: float in the product, double in the twin build that tests,
/// gradient checks and golden cases link against.
#ifdef WEFT_DOUBLE
using Real = double;
#else
using Real = float;
#endif

/// Sizes, positions and offsets.
using Index = std::int64_t;

}  // namespace weft::core
