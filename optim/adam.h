#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

/// Adam and AdamW. With g the scaled gradient, t = step + 1 and d the weight decay (0 for vectors):
///
///   adam    g += d p
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g²
///   adamw   p -= rate d p
///   p -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
class Adam final : public Optimizer {
 public:
  Adam(const OptimSettings& settings, const autograd::ParameterArena& arena);

 private:
  void move(const Stretch& stretch, const Update& update) override;

  core::Real beta1_, beta2_, eps_;
  double weight_decay_;
  bool decoupled_;
};

}  // namespace weft::optim
