#pragma once

#include "optim/settings.h"
#include "tests/layers/given_fields.h"

namespace weft::optim {

/// An update rule with the constants of every rule, written in the test itself.
struct GivenRule {
  std::string kind = "adamw";
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.99;
  double eps = 1e-8;
  double tensor_clip = 0.03;
  double momentum = 0.9;
  double weight_decay = 0;
  double clip = 1;
};

/// The settings that a config with these values gives.
inline OptimSettings settings_of(const GivenRule& rule) {
  tests::GivenFields fields({{"kind", rule.kind},
                             {"lr", rule.lr},
                             {"beta1", rule.beta1},
                             {"beta2", rule.beta2},
                             {"eps", rule.eps},
                             {"tensor_clip", rule.tensor_clip},
                             {"momentum", rule.momentum},
                             {"weight_decay", rule.weight_decay},
                             {"clip", rule.clip}});
  OptimSettings settings;
  settings.fields(fields);
  return settings;
}

inline std::unique_ptr<Optimizer> make_optimizer(const GivenRule& rule,
                                                 const autograd::ParameterArena& arena) {
  return settings_of(rule).make_optimizer(arena);
}

}  // namespace weft::optim
