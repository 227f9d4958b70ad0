#pragma once

#include "core/fields.h"
#include "optim/optimizer.h"

namespace weft::optim {

struct SgdSettings {
  double momentum = 0.9;  ///< memory of the velocity; 0: none

  void fields(core::Fields& fields);
};

/// Gradient descent with momentum. With g the scaled gradient and d the weight decay (0 for
/// vectors):
///
///   g += d p,  m = momentum m + g,  p -= rate m
///
/// Without momentum m is g, and no array is stored.
class Sgd final : public Optimizer {
 public:
  Sgd(const SgdSettings& settings, double weight_decay, const autograd::ParameterArena& arena);

 private:
  void move(const Stretch& stretch, const Update& update) override;

  core::Real momentum_, weight_decay_;
};

}  // namespace weft::optim
