#pragma once

#include "layers/attention/clusters/centroids.h"

namespace weft::layers {

/// One step of all centres. value: [H, K, D + 2] as `Centroids::state` says; statistics:
/// [H, K, 2 D + 1]: the sum of the members, their number, and the centre's start if this is the
/// first step, else zeros.
void move_centroids(const CentroidSettings& settings, std::span<Real> value,
                    std::span<const Real> statistics);

}  // namespace weft::layers
