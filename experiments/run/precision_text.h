#pragma once

#include <string>

#include "experiments/run/run_config.h"

namespace weft::experiments {

/// What multiplies in bf16 on this machine and which parts of the model stay in float32; empty for
/// a run in float32.
std::string describe_precision(const RunConfig& config);

}  // namespace weft::experiments
