#pragma once

#include "core/fields.h"
#include "optim/optimizer.h"

namespace weft::optim {

/// The constants of adam and adamw.
struct AdamSettings {
  double beta1 = 0.9;   ///< memory of the mean gradient
  double beta2 = 0.99;  ///< memory of the mean squared gradient
  double eps = 1e-8;    ///< added to the root of the mean square

  void fields(core::Fields& fields);
};

/// How Adam applies weight decay.
enum class AdamDecay {
  coupled,   ///< adam: added to the gradient
  decoupled  ///< adamw: applied to the weights directly
};

/// Adam and AdamW. With g the scaled gradient, t = step + 1 and d the weight decay (0 for vectors):
///
///   adam    g += d p
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g²
///   adamw   p -= rate d p
///   p -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
class Adam final : public Optimizer {
 public:
  Adam(const AdamSettings& settings, AdamDecay kind, double weight_decay,
       const autograd::ParameterArena& arena);

 private:
  void move(const Stretch& stretch, const Update& update) override;

  core::Real beta1_, beta2_, eps_;
  double weight_decay_;
  AdamDecay kind_;
};

}  // namespace weft::optim
