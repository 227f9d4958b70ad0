#pragma once

#include <string>
#include <vector>

#include "autograd/parameter_arena.h"

namespace weft::tests {

/// Lends random values and zeroed gradients to the given parameters for as long as it lives.
class DrawnParameters {
 public:
  explicit DrawnParameters(const std::vector<autograd::Parameter*>& parameters,
                           std::uint64_t seed = 1,
                           core::Precision precision = core::Precision::float32)
      : arena_(listed(parameters), autograd::ParameterArena::Use::training, precision) {
    core::fill_normal(arena_.values(), core::Rng(seed), 0.5);
  }

  autograd::ParameterArena& arena() { return arena_; }

 private:
  static autograd::Inventory listed(const std::vector<autograd::Parameter*>& parameters) {
    autograd::Inventory inventory;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      inventory.add("parameter" + std::to_string(i), *parameters[i]);
    return inventory;
  }

  autograd::ParameterArena arena_;
};

}  // namespace weft::tests
