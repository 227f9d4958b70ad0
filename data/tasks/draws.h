#pragma once

#include <set>
#include <vector>

#include "core/arrays/tokens.h"
#include "core/rng.h"

/// Orders and choices drawn from a random stream. Each function has its own way of drawing: what
/// generated data are made of does not change.
namespace weft::data {

/// 0 .. count - 1 in random order.
std::vector<core::Index> drawn_order(core::Index count, const core::Rng& stream);

/// `count` different numbers below `size`, all choices equally likely.
std::set<core::Index> drawn_choice(core::Index count, core::Index size, const core::Rng& stream);

/// Moves a random choice of `count` of the items, in random order, to the front.
void choose(std::vector<core::Token>& items, core::Index count, const core::Rng& stream);

/// `count` different numbers below `total`, in random order.
std::vector<core::Token> choose_below(core::Index total, core::Index count,
                                      const core::Rng& stream);

}  // namespace weft::data
