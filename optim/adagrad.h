#pragma once

#include "core/fields.h"
#include "optim/optimizer.h"

namespace weft::optim {

struct AdagradSettings {
  double eps = 1e-8;          ///< added to the root of the summed squares
  double tensor_clip = 0.03;  ///< shortens the steps of tensors with longer gradients; 0: off

  void fields(core::Fields& fields);
};

/// Adagrad with a step limit for each tensor. With g the scaled gradient of a parameter, |g| its
/// length before decay and d the weight decay (0 for vectors):
///
///   g += d p,  v += g²
///   p -= rate min(1, tensor_clip / |g|) g / (sqrt(v) + eps)
///
/// The sum uses the full g: only the step is shortened.
class Adagrad final : public Optimizer {
 public:
  Adagrad(const AdagradSettings& settings, double weight_decay,
          const autograd::ParameterArena& arena);

 private:
  void prepare(const autograd::ParameterArena& arena, const Update& update) override;
  void move(const Stretch& stretch, const Update& update) override;

  double tensor_clip_;
  core::Real eps_, weight_decay_;
  std::vector<double> shortened_;  ///< for each parameter: the factor of its step
};

}  // namespace weft::optim
