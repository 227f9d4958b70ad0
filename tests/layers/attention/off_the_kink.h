#pragma once

#include "autograd/parameter_arena.h"

namespace weft::layers {

/// Learned reaches start at 0, where spans have a kink and differences see both of its sides: moves
/// them a little to one.
inline void move_reaches_off_the_kink(autograd::ParameterArena& arena) {
  for (const auto& segment : arena.slots())
    if (segment.name.ends_with("reach"))
      for (core::Real& reach : arena.value(segment)) reach += core::Real(1.3e-3);
}

}  // namespace weft::layers
