#pragma once

#include <span>

#include "core/rng.h"

namespace weft::layers {

/// Fills [rows, width] so that each row alone is a normal vector and the rows of a block of
/// `width` are orthogonal to one another; the last block may be cut short.
void draw_orthogonal_features(std::span<core::Real> out, core::Index rows, core::Index width,
                              const core::Rng& rng);

}  // namespace weft::layers
