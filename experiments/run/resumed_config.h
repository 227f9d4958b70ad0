#pragma once

#include <string>
#include <vector>

#include "experiments/checkpoint/checkpoint.h"
#include "experiments/run/run_config.h"

namespace weft::experiments {

/// Compares the config that a run continues with to the one it was saved with. Returns the changes
/// that are safe (budgets, validation, retention, threads, samples), one line each; any other
/// change is an Error (Fault::usage) that lists them all.
std::vector<std::string> check_resumed_config(const Checkpoint& checkpoint,
                                              const RunConfig& config);

}  // namespace weft::experiments
