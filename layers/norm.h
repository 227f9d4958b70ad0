#pragma once

#include "layers/linear.h"

namespace weft::layers {

/// LayerNorm over the last axis with a learned gain (from 1) and bias (from 0).
class Norm {
 public:
  explicit Norm(Index width) : gain_({width}, Init::ones()), bias_({width}, Init::zeros()) {}

  Var forward(const Var& x) const { return autograd::layer_norm(x, gain_, bias_, eps); }

  void visit(Inventory& inventory) {
    inventory.add("weight", gain_);
    inventory.add("bias", bias_);
  }

 private:
  static constexpr Real eps = Real(1e-5);
  Parameter gain_, bias_;
};

}  // namespace weft::layers
