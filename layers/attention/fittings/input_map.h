#pragma once

#include "autograd/inventory.h"
#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// A linear map of the layer's input that makes gates: one matrix, or two through few columns.
class InputMap {
 public:
  struct Form {
    Index rank = 0;  ///< columns between two matrices; 0 for one matrix
    bool bias = false;
    autograd::Init start = autograd::Init::zeros();  ///< of the bias
  };
  InputMap(Index in, Index out, const Form& form);

  /// x: [N, in] -> [N, out]
  Var forward(const Var& x) const;
  /// Saves: the values between the two matrices.
  Cost cost(Index tokens) const;
  void visit(autograd::Inventory& inventory);

 private:
  Index rank_;
  bool has_bias_;
  autograd::Parameter down_, up_, bias_;  ///< `up` alone where it is one matrix
};

}  // namespace weft::layers
