#pragma once

#include <set>
#include <vector>

#include "core/rng.h"

/// Orders and choices drawn from a random stream.
namespace weft::data {

/// 0 .. count - 1 in random order.
std::vector<core::Index> drawn_order(core::Index count, const core::Rng& stream);

/// `count` different numbers below `size`, all choices equally likely.
std::set<core::Index> drawn_choice(core::Index count, core::Index size, const core::Rng& stream);

}  // namespace weft::data
