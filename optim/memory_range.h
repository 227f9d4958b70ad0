#pragma once

#include "core/fields.h"

namespace weft::optim {

/// The legal decay factors of a running mean. A mean with factor 1 would never change, and float
/// cannot distinguish much more than 0.999999 from 1.
inline const core::Range memory_range = core::between(0, 0.999999);

}  // namespace weft::optim
