#pragma once

#include "autograd/inventory.h"
#include "autograd/ops.h"

namespace weft::layers {

using autograd::Init;
using autograd::Inventory;
using autograd::Parameter;
using autograd::Pass;
using autograd::Var;
using core::Index;
using core::Real;
using core::Tensor;

/// weight: [out, in] and bias: [out], starting at zero.
class Linear {
 public:
  Linear(Index in, Index out, Init init) : weight_({out, in}, init), bias_({out}, Init::zeros()) {}

  /// x: [..., in] -> [..., out]
  Var forward(const Var& x) const { return autograd::linear(x, weight_, &bias_); }
  /// residual + forward(x)
  Var onto(const Var& residual, const Var& x) const {
    return autograd::linear_onto(residual, x, weight_, &bias_);
  }
  /// forward(x) without the bias, for an op that adds the bias itself.
  Var product(const Var& x) const { return autograd::linear(x, weight_); }

  const Parameter& weight() const { return weight_; }
  /// Columns [first, first + count) of forward(x) for a constant x, from which only the parameters
  /// learn.
  Var part(const Pass& pass, const Tensor& x, Index first, Index count) const {
    return autograd::linear_part(pass, x, weight_, bias_, first, count);
  }

  const Parameter& bias() const { return bias_; }
  Index weights() const { return weight_.shape().size(); }

  void visit(Inventory& inventory) {
    inventory.add("weight", weight_);
    inventory.add("bias", bias_);
  }

 private:
  Parameter weight_, bias_;
};

}  // namespace weft::layers
