#pragma once

#include <string>

#include "core/fields.h"

namespace weft::optim {

/// The section [optim] of a config: the update rule, its constants and the learning rate over time.
struct OptimSettings {
  std::string kind = "adamw";  ///< adam | adamw | sgd | adagrad
  double lr = 1e-3;            ///< the peak learning rate
  double beta1 = 0.9;          ///< adam kinds: memory of the mean gradient
  double beta2 = 0.99;         ///< adam kinds: memory of the mean squared gradient
  double eps = 1e-8;           ///< adam kinds, adagrad: added to the root of the squares
  double tensor_clip = 0.03;   ///< adagrad: shortens the steps of tensors with longer gradients
  double momentum = 0.9;       ///< sgd: memory of the velocity; 0 keeps none
  double weight_decay = 0;     ///< pulls matrices, never vectors, towards zero
  double clip = 1;             ///< largest global gradient norm; 0 = off
  core::Index warmup = 0;      ///< steps before the peak
  std::string schedule = "constant";  ///< constant | cosine | linear | rsqrt
  double final_lr = 0;                ///< cosine, linear: the learning rate at the end

  bool is_adam() const { return kind == "adam" || kind == "adamw"; }
  bool falls_to_final_lr() const { return schedule == "cosine" || schedule == "linear"; }

  /// Visits only what the chosen kind and schedule use.
  void fields(core::Fields& fields);
};

}  // namespace weft::optim
