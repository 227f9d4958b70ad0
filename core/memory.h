#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/real.h"

namespace weft::core {

/// Bytes of the pool that tensors allocate from. Blocks go back to the pool and stay with it, so
/// from the second step on a training step takes nothing from the operating system.
struct MemoryUse {
  Index live = 0;     ///< in use now
  Index peak = 0;     ///< largest `live` since the last reset
  Index held = 0;     ///< taken from the operating system, in use or kept for reuse
  Index largest = 0;  ///< largest single allocation since the last reset
  Index fresh = 0;    ///< allocations since the last reset that the pool could not serve itself
};

/// An uninitialised block of `count` numbers, aligned to 64 bytes, owned by the result.
std::shared_ptr<Real> allocate(Index count);

MemoryUse memory_use();
/// Starts a new measurement: peaks fall to what is live, counts to zero.
void reset_memory_peak();
/// The largest number of live bytes that each Scope path ever held since the last reset.
std::map<std::string, Index> peak_bytes_by_scope();
/// Gives blocks that nobody uses back to the operating system.
void trim_memory();

}  // namespace weft::core
