#pragma once

#include "experiments/run/run_config.h"

namespace weft::experiments {

/// The config of a run with a share of the budget: a whole run of its own, with its own schedule.
/// Its warm-up shrinks with it. A budget of time cannot be shared out: an Error.
RunConfig shorter_run(const ConfigTree& tree, const RunConfig& whole, double share);

}  // namespace weft::experiments
