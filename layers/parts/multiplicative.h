#pragma once

#include "layers/parts/linear.h"

namespace weft::layers {

/// A layer of few weights that mixes all columns: y[s M + k] = sum_i x_i D[s, i] E[k, i]. Whatever
/// its size it can be any permutation of columns. It represents a matrix whose S M rows are the
/// products of a row of D and a row of E; sequences pass that matrix, made for the call, and one
/// token reads D and E alone, W (S + M) weights.
class Multiplicative {
 public:
  /// S modules of M columns each.
  Multiplicative(Index width, Index modules, Index columns);

  /// x: [N, W] -> [N, S M]
  Var forward(const Pass& pass, const Var& x) const;
  /// The whole matrix: [S M, W]
  Var table(const Pass& pass) const;
  /// One token.  x: [W] -> y: [S M]
  void step(const Real* x, Real* y) const;

  Index weights() const { return modules_.shape().size() + columns_.shape().size(); }
  void visit(Inventory& inventory) {
    inventory.add("modules", modules_);
    inventory.add("columns", columns_);
  }

 private:
  Parameter modules_, columns_;  ///< D: [S, W], E: [M, W]
};

}  // namespace weft::layers
