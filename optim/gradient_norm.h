#pragma once

#include <span>

#include "autograd/parameter_arena.h"

namespace weft::optim {

/// The Euclidean length of a flat array, summed in double over pieces of fixed length in fixed
/// order; not finite where any element is not.
double gradient_norm(std::span<const core::Real> gradients);

/// The length of all of an arena's gradients, of which row-sparse ones are read by touched rows.
double gradient_norm(const autograd::ParameterArena& arena);

/// The factor that reduces gradients of the given norm to a norm of at most `clip`:
/// min(1, clip / (norm + 1e-6)), or 1 when `clip` is 0.
double clipping_scale(double norm, double clip);

}  // namespace weft::optim
