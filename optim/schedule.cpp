#include "optim/schedule.h"

#include <cmath>
#include <numbers>

#include "core/error.h"

namespace weft::optim {
namespace {

// The share of the run after the warm-up that is done: 0 to 1.
double progress(core::Index step, core::Index warmup, core::Index total_steps) {
  if (step >= total_steps) return 1;
  return double(step - warmup) / double(total_steps - warmup);
}

}  // namespace

double learning_rate(const OptimSettings& settings, core::Index step, core::Index total_steps) {
  const double lr = settings.lr;
  const core::Index warmup = settings.warmup;
  core::require(step >= 0, "learning_rate: steps are numbered from 0, got ", step);
  if (step < warmup) return lr * double(step + 1) / double(warmup + 1);
  const double done = progress(step, warmup, total_steps);
  const auto falling = [&](double left) {
    return settings.final_lr + left * (lr - settings.final_lr);
  };
  switch (settings.schedule) {
    case Schedule::cosine:
      return falling(0.5 * (1 + std::cos(std::numbers::pi * done)));
    case Schedule::linear:
      return falling(1 - done);
    case Schedule::rsqrt:
      return lr * std::sqrt(double(warmup + 1) / double(step + 1));
    case Schedule::constant:
      break;
  }
  return lr;
}

}  // namespace weft::optim
