#include "optim/adam.h"

#include <cmath>

#include "core/simd/kernels.h"
#include "optim/memory_range.h"

namespace weft::optim {

using core::Real;

namespace {

// 1 / (1 - beta^t) corrects a running mean that started at zero. beta is rounded as the kernel
// rounds it: in float, 1 - 0.999 has a relative error of 1e-5, and both must have the same.
Real correction(Real beta, core::Index t) {
  return Real(1 / (1 - std::pow(double(beta), double(t))));
}

OptimizerPlan plan_of(core::Fields& fields, AdamDecay kind) {
  AdamSettings settings;
  settings.fields(fields);
  return {.shrinks_weights = kind == AdamDecay::decoupled,
          .make = [=](const autograd::ParameterArena& arena, double weight_decay) {
            return std::make_unique<Adam>(settings, kind, weight_decay, arena);
          }};
}

}  // namespace

void AdamSettings::fields(core::Fields& fields) {
  fields.number("beta1", beta1, "decay rate of the mean gradient", memory_range);
  fields.number("beta2", beta2, "decay rate of the mean squared gradient", memory_range);
  fields.number("eps", eps, "added to the root of the mean square", core::between(1e-30, 1));
}

Adam::Adam(const AdamSettings& settings, AdamDecay kind, double weight_decay,
           const autograd::ParameterArena& arena)
    : Optimizer(arena, {"m", "v"}),
      beta1_(Real(settings.beta1)),
      beta2_(Real(settings.beta2)),
      eps_(Real(settings.eps)),
      weight_decay_(weight_decay),
      kind_(kind) {}

void Adam::move(const Stretch& stretch, const Update& update) {
  const double decay = stretch.decays ? weight_decay_ : 0;
  const bool decoupled = kind_ == AdamDecay::decoupled;
  const core::AdamRule rule{.rate = Real(update.rate),
                            .beta1 = beta1_,
                            .beta2 = beta2_,
                            .eps = eps_,
                            .correction1 = correction(beta1_, update.step + 1),
                            .correction2 = correction(beta2_, update.step + 1),
                            .gradient_scale = Real(update.gradient_scale),
                            .shrink = Real(decoupled ? update.rate * decay : 0),
                            .decay = Real(decoupled ? 0 : decay)};
  core::simd().adam(rule, stretch.gradient, stretch.value, moment(0) + stretch.offset,
                    moment(1) + stretch.offset, stretch.size);
}

OptimizerPlan configure_adam(core::Fields& fields) { return plan_of(fields, AdamDecay::coupled); }

OptimizerPlan configure_adamw(core::Fields& fields) {
  return plan_of(fields, AdamDecay::decoupled);
}

}  // namespace weft::optim
