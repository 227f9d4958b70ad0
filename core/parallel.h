#pragma once

#include <functional>

#include "core/real.h"

namespace weft::core {

/// How many threads the library may use; 0 means all cores, in a Slurm task those given to it.
void set_threads(Index count);
Index threads();

/// A good piece size for loops that do little with each element.
inline constexpr Index elementwise_grain = 1 << 15;

/// Calls body(begin, end) for consecutive pieces of [0, count), each `grain` long but the last.
/// The pieces depend on count and grain only, never on the number of threads, so a body that
/// writes its own piece gives the same bits on any machine.
void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body);

/// A piece size for rows of the given width, so that pieces are neither tiny nor few.
Index rows_per_piece(Index width);

}  // namespace weft::core
