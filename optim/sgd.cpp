#include "optim/sgd.h"

namespace weft::optim {

using core::Index;
using core::Real;

Sgd::Sgd(const OptimSettings& settings, const autograd::ParameterArena& arena)
    : Optimizer(arena,
                settings.momentum > 0 ? std::vector<std::string>{"m"} : std::vector<std::string>{}),
      momentum_(Real(settings.momentum)),
      weight_decay_(Real(settings.weight_decay)) {}

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

}  // namespace weft::optim
