#pragma once

#include <map>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"

namespace weft::layers {

using core::Index;

/// A matrix in double.
struct Grid {
  Index rows, cols;
  std::vector<double> numbers;

  Grid(Index r, Index c) : rows(r), cols(c), numbers(std::size_t(r * c), 0.0) {}
  explicit Grid(const core::Tensor& x)
      : rows(x.shape().rows()), cols(x.shape().back()), numbers(x.read().begin(), x.read().end()) {}

  double& at(Index r, Index c) { return numbers[std::size_t(r * cols + c)]; }
  double at(Index r, Index c) const { return numbers[std::size_t(r * cols + c)]; }
};

/// Parameters by name, vectors as one row.
using Weights = std::map<std::string, Grid>;

/// Lends random weights and zeroed gradients to a part for as long as it lives.
template <class Part>
class DrawnWeights {
 public:
  explicit DrawnWeights(Part& part, double scale = 0.4) : inventory_(listed(part)) {
    core::fill_normal(arena_.values(), core::Rng(1), scale);
  }

  autograd::ParameterArena& arena() { return arena_; }
  const autograd::Inventory& inventory() const { return inventory_; }

  Weights weights() const {
    Weights all;
    for (const auto& [name, parameter] : inventory_.parameters())
      all.emplace(name, Grid(parameter->value()));
    return all;
  }

 private:
  static autograd::Inventory listed(Part& part) {
    autograd::Inventory inventory;
    part.visit(inventory);
    return inventory;
  }

  autograd::Inventory inventory_;
  autograd::ParameterArena arena_{inventory_, autograd::ParameterArena::Use::training};
};

}  // namespace weft::layers
