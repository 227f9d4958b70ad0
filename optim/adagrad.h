#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Adagrad, with steps that are shortened tensor by tensor. With g the scaled gradient of a
/// parameter, |g| its length before decay and d the weight decay (0 for vectors):
///
///   g += d p,  v += g²
///   p -= rate min(1, tensor_clip / |g|) g / (sqrt(v) + eps)
///
/// The sum takes g as it is: only the step is shortened.
class Adagrad final : public Optimizer {
 public:
  Adagrad(const OptimSettings& settings, const autograd::ParameterArena& arena);

 private:
  void prepare(const autograd::ParameterArena& arena, const Update& update) override;
  void move(const Stretch& stretch, const Update& update) override;

  double tensor_clip_;
  core::Real eps_, weight_decay_;
  std::vector<double> shortened_;  ///< of each parameter: what its step is multiplied with
};

}  // namespace weft::optim
