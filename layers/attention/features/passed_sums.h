#pragma once

#include <functional>

#include "layers/attention/features/chunks.h"

namespace weft::layers {

/// The sums of all keys in the chunks of columns on the left of this one, [B, H, numbers], or empty
/// if there are none; `own` makes this chunk's, and both together are passed on to the right.
Tensor sums_from_left(const FeatureProblem& problem, const std::function<Tensor()>& own);
/// The sums of all queries' gradients in the chunks on its right, and the same to the left.
Tensor sums_from_right(const FeatureProblem& problem, const std::function<Tensor()>& own);

}  // namespace weft::layers
