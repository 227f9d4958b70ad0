#include "optim/adagrad.h"

#include <algorithm>
#include <cmath>

namespace weft::optim {

using core::Index;
using core::Real;

void AdagradSettings::fields(core::Fields& fields) {
  fields.number("eps", eps, "added to the root of the summed squares", core::between(1e-30, 1));
  fields.number("tensor_clip", tensor_clip,
                "a tensor with a larger gradient norm takes a step shorter by the ratio, 0 = off",
                core::between(0, 1e30));
}

Adagrad::Adagrad(const AdagradSettings& settings, double weight_decay,
                 const autograd::ParameterArena& arena)
    : Optimizer(arena, {"v"}),
      tensor_clip_(settings.tensor_clip),
      eps_(Real(settings.eps)),
      weight_decay_(Real(weight_decay)) {}

void Adagrad::prepare(const autograd::ParameterArena& arena, const Update& update) {
  shortened_.clear();
  for (const double gradient : gradient_lengths(arena)) {
    const double length = std::abs(update.gradient_scale) * gradient;
    shortened_.push_back(tensor_clip_ > 0 && length > tensor_clip_ ? tensor_clip_ / length : 1);
  }
}

void Adagrad::move(const Stretch& stretch, const Update& update) {
  const Real rate = Real(update.rate * shortened_[stretch.parameter]);
  const Real scale = Real(update.gradient_scale);
  const Real decay = stretch.decays ? weight_decay_ : Real(0);
  const Real* __restrict gradient = stretch.gradient;
  Real* __restrict value = stretch.value;
  Real* __restrict v = moment(0) + stretch.offset;
  for (Index i = 0; i < stretch.size; ++i) {
    const Real g = scale * gradient[i] + decay * value[i];
    v[i] += g * g;
    value[i] -= rate * g / (std::sqrt(v[i]) + eps_);
  }
}

OptimizerPlan configure_adagrad(core::Fields& fields) {
  AdagradSettings settings;
  settings.fields(fields);
  return {.make = [=](const autograd::ParameterArena& arena, double weight_decay) {
    return std::make_unique<Adagrad>(settings, weight_decay, arena);
  }};
}

}  // namespace weft::optim
