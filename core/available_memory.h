#pragma once

#include "core/real.h"

namespace weft::core {

/// Bytes that this process may still take: what is free on the machine, within the limit of the
/// control group; or WEFT_MEMORY_MB megabytes where the environment says so.
Index available_memory();

}  // namespace weft::core
