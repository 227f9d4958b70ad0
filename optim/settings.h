#pragma once

#include <memory>
#include <string>

#include "core/fields.h"
#include "optim/optimizer.h"

namespace weft::optim {

/// How the learning rate changes after the warm-up: see schedule.h.
enum class Schedule { constant, cosine, linear, rsqrt };

/// The section [optim] of a config: the update rule and the learning rate over time. The constants
/// of each rule are declared with the rule and listed through registry.h.
struct OptimSettings {
  std::string kind = "adamw";  ///< a name in the registry
  double lr = 1e-3;            ///< the peak learning rate
  OptimizerPlan plan = {};     ///< the chosen rule with its constants, set by fields()
  double weight_decay = 0;     ///< pulls matrices, never vectors, towards zero
  double clip = 1;             ///< largest global gradient norm; 0 = off
  core::Index warmup = 0;      ///< steps before the peak
  Schedule schedule = Schedule::constant;
  double final_lr = 0;  ///< cosine, linear: the learning rate at the end

  /// Visits kind and lr, the constants of the chosen rule, then the rest.
  void fields(core::Fields& fields);
  /// The chosen optimizer with all moments zero. Needs fields() first.
  std::unique_ptr<Optimizer> make_optimizer(const autograd::ParameterArena& arena) const;
};

}  // namespace weft::optim
