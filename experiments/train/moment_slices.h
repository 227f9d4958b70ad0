#pragma once

#include "core/ranks/ranks.h"
#include "core/ranks/slices.h"

namespace weft::experiments {

using core::Index;
using core::Real;

/// Moments as several ranks have them: of each flat array its own slices, one after the other, and
/// then all that follows the sliced part.

/// The first rank gets the whole array, [size]; the others get nothing.
std::vector<Real> gather_moments(core::Ranks& ranks, const core::Slices& slices, Index size,
                                 std::span<const Real> own);
/// The other way: every rank gets its own from the first one's `whole`.
void scatter_moments(core::Ranks& ranks, const core::Slices& slices, std::span<Real> whole,
                     std::span<Real> own);

}  // namespace weft::experiments
