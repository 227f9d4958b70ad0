#pragma once

#include <span>

#include "autograd/parameter_arena.h"
#include "optim/sharing.h"

namespace weft::optim {

/// The sum of squares of each piece of a flat array, in double. Ranks that share the array compute
/// those of their own and get the others'.
std::vector<double> sums_of_squares(std::span<const core::Real> values,
                                    std::span<const core::Stretch> pieces, const Sharing& sharing);

/// The Euclidean length of a flat array, summed in double over pieces of fixed length in fixed
/// order; not finite where any element is not.
double gradient_norm(std::span<const core::Real> gradients, const Sharing& sharing = {});

/// The length of all of an arena's gradients, of which row-sparse ones are read by touched rows.
double gradient_norm(const autograd::ParameterArena& arena, const Sharing& sharing = {});

/// The factor that reduces gradients of the given norm to a norm of at most `clip`:
/// min(1, clip / (norm + 1e-6)), or 1 when `clip` is 0.
double clipping_scale(double norm, double clip);

}  // namespace weft::optim
