#pragma once

#include <string>
#include <vector>

#include "experiments/run/run_config.h"

namespace weft::experiments {

/// The bytes of everything that training changes, and the losses on the way.
struct Trace {
  std::vector<double> losses;
  std::vector<std::pair<std::string, std::vector<core::Real>>> arrays;
};

/// The same run with its budget counted in steps, so that its schedule is the same on every
/// attempt; a budget in minutes is turned into steps by timing a few.
RunConfig with_counted_steps(RunConfig config);

/// Trains the first `steps` steps of a run in one go.
Trace train_straight(const RunConfig& config, Index steps);
/// The same with a break: trains `at` steps, saves a checkpoint in `directory`, and a second
/// training continues from it.
Trace train_interrupted(const RunConfig& config, Index at, Index steps,
                        const std::string& directory);

/// The differences between two traces, one line each; nothing when every bit is equal.
std::vector<std::string> differences(const Trace& a, const Trace& b);

}  // namespace weft::experiments
