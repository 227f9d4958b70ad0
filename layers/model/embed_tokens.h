#pragma once

#include "core/arrays/tokens.h"
#include "layers/parts/pixel_input.h"
#include "layers/parts/positions.h"

namespace weft::layers {

/// Rows of the token table with their positions, first, first + 1, ..., and dropout; with `pixels`,
/// also the values as numbers.
/// tokens: [B, T] -> [B * T, W]
Var embed_tokens(const Pass& pass, const core::Tokens& tokens, const Parameter& table,
                 const Positions& positions, Index first, Real dropout,
                 const PixelNumber* pixels = nullptr);

}  // namespace weft::layers
