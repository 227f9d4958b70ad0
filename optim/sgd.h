#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Gradient descent with momentum. With g the scaled gradient and d the weight decay (0 for
/// vectors):
///
///   g += d p,  m = momentum m + g,  p -= rate m
///
/// Without momentum m is g and no array is kept.
class Sgd final : public Optimizer {
 public:
  Sgd(const OptimSettings& settings, const autograd::ParameterArena& arena);

 private:
  void move(const Stretch& stretch, const Update& update) override;

  core::Real momentum_, weight_decay_;
};

}  // namespace weft::optim
