#pragma once

#include <vector>

#include "core/arrays/tokens.h"
#include "core/rng.h"

namespace weft::data {

/// Moves a random choice of `count` of the items, in random order, to the front.
void choose(std::vector<core::Token>& items, core::Index count, const core::Rng& rng);

/// `count` different numbers below `total`, in random order.
std::vector<core::Token> choose_below(core::Index total, core::Index count, const core::Rng& rng);

}  // namespace weft::data
