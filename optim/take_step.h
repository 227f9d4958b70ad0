#pragma once

#include "optim/settings.h"

namespace weft::optim {

/// What one step did.
struct StepReport {
  double gradient_norm = 0;  ///< before clipping, after gradient_scale
  double rate = 0;
  core::Index moved = 0;  ///< numbers that the step passed over
  bool applied = false;   ///< false: the norm was not finite, and nothing has changed
};

/// Clips the arena's gradients by their global norm and moves the parameters at the scheduled
/// learning rate. Clipping happens inside the update; the gradients stay as they are.
/// `gradient_scale` multiplies gradients first; it stays 1 where each micro-batch loss already
/// includes its share of the batch.
StepReport take_step(Optimizer& optimizer, autograd::ParameterArena& arena,
                     const OptimSettings& settings, core::Index step, core::Index total_steps,
                     double gradient_scale = 1);

}  // namespace weft::optim
