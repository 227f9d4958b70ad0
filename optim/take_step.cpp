#include "optim/take_step.h"

#include <cmath>

#include "optim/gradient_norm.h"
#include "optim/schedule.h"

namespace weft::optim {

StepReport take_step(Optimizer& optimizer, autograd::ParameterArena& arena,
                     const OptimSettings& settings, core::Index step, core::Index total_steps,
                     double gradient_scale) {
  StepReport report{
      .gradient_norm = std::abs(gradient_scale) * gradient_norm(arena, optimizer.sharing()),
      .rate = learning_rate(settings, step, total_steps)};
  report.applied = std::isfinite(report.gradient_norm);
  if (report.applied)
    report.moved = optimizer.step(
        arena,
        {.step = step,
         .rate = report.rate,
         .gradient_scale = gradient_scale * clipping_scale(report.gradient_norm, settings.clip)});
  return report;
}

}  // namespace weft::optim
