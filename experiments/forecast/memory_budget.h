#pragma once

#include "experiments/run/run_config.h"

namespace weft::experiments {

/// Obeys train.memory: sets config.train.recomputed to the least number of layers that must be
/// computed again in the backward pass for a step to take no more, found by training a few steps.
/// Throws an Error that says what to change when recomputing every layer is not enough. Costs
/// nothing without train.memory, and for runs that are small compared with it.
void fit_memory(RunConfig& config);

/// What was chosen, with its cost, as a line for people; empty without train.memory.
std::string describe_memory(const RunConfig& config);

}  // namespace weft::experiments
