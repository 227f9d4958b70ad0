#include "optim/sgd.h"

#include "optim/memory_range.h"

namespace weft::optim {

using core::Index;
using core::Real;

void SgdSettings::fields(core::Fields& fields) {
  fields.number("momentum", momentum, "momentum, 0 = none", memory_range);
}

Sgd::Sgd(const SgdSettings& settings, double weight_decay, const autograd::ParameterArena& arena)
    : Optimizer(arena,
                settings.momentum > 0 ? std::vector<std::string>{"m"} : std::vector<std::string>{}),
      momentum_(Real(settings.momentum)),
      weight_decay_(Real(weight_decay)) {}

void Sgd::move(const Stretch& stretch, const Update& update) {
  const Real rate = Real(update.rate), scale = Real(update.gradient_scale);
  const Real decay = stretch.decays ? weight_decay_ : Real(0);
  const Real* __restrict gradient = stretch.gradient;
  Real* __restrict value = stretch.value;
  if (momentum_ > 0) {
    Real* __restrict m = moment(0) + stretch.offset;
    for (Index i = 0; i < stretch.size; ++i) {
      m[i] = momentum_ * m[i] + (scale * gradient[i] + decay * value[i]);
      value[i] -= rate * m[i];
    }
  } else {
    for (Index i = 0; i < stretch.size; ++i)
      value[i] -= rate * (scale * gradient[i] + decay * value[i]);
  }
}

OptimizerPlan configure_sgd(core::Fields& fields) {
  SgdSettings settings;
  settings.fields(fields);
  return {.make = [=](const autograd::ParameterArena& arena, double weight_decay) {
    return std::make_unique<Sgd>(settings, weight_decay, arena);
  }};
}

}  // namespace weft::optim
