#pragma once

#include <string>
#include <vector>

#include "experiments/checkpoint/checkpoint.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {

/// The kernels that compute a run, which its bits depend on: "isa", "blas", "products" and, where
/// products are in bf16, "bf16". A checkpoint has them below "meta/", env.json as they are.
Facts kernels_used(const RunConfig& config);

/// "avx512, BLAS SkylakeX, oneDNN 2.6.3 by shape"
std::string describe_kernels();

/// Multiplies from now on as the run of this checkpoint did, where that is possible. Returns a
/// warning for everything that differs all the same.
std::vector<std::string> follow_kernels(const Checkpoint& checkpoint, const RunConfig& config);

}  // namespace weft::experiments
