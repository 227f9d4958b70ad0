#include "optim/adam.h"

#include <cmath>

#include "core/simd/kernels.h"

namespace weft::optim {

using core::Real;

namespace {

// 1 / (1 - beta^t), what a mean that began at zero lacks. It takes beta as rounded for the kernel:
// in float, 1 - 0.999 is off by 1e-5 of itself, and the mean must be divided by the same.
Real correction(Real beta, core::Index t) {
  return Real(1 / (1 - std::pow(double(beta), double(t))));
}

}  // namespace

Adam::Adam(const OptimSettings& settings, const autograd::ParameterArena& arena)
    : Optimizer(arena, {"m", "v"}),
      beta1_(Real(settings.beta1)),
      beta2_(Real(settings.beta2)),
      eps_(Real(settings.eps)),
      weight_decay_(settings.weight_decay),
      decoupled_(settings.kind == "adamw") {}

void Adam::move(const Stretch& stretch, const Update& update) {
  const double decay = stretch.decays ? weight_decay_ : 0;
  const core::AdamRule rule{.rate = Real(update.rate),
                            .beta1 = beta1_,
                            .beta2 = beta2_,
                            .eps = eps_,
                            .correction1 = correction(beta1_, update.step + 1),
                            .correction2 = correction(beta2_, update.step + 1),
                            .gradient_scale = Real(update.gradient_scale),
                            .shrink = Real(decoupled_ ? update.rate * decay : 0),
                            .decay = Real(decoupled_ ? 0 : decay)};
  core::simd().adam(rule, stretch.gradient, stretch.value, moment(0) + stretch.offset,
                    moment(1) + stretch.offset, stretch.size);
}

}  // namespace weft::optim
