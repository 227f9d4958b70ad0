#pragma once

#include "core/arrays/tokens.h"
#include "layers/parts/positions.h"

namespace weft::layers {

/// Rows of the token table with their positions, first, first + 1, ..., and dropout.
/// tokens: [B, T] -> [B * T, W]
Var embed_tokens(const Pass& pass, const core::Tokens& tokens, const Parameter& table,
                 const Positions& positions, Index first, Real dropout);

}  // namespace weft::layers
