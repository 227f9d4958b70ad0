#pragma once

#include <memory>

#include "layers/attention/contract/step_rows.h"
#include "layers/parts/norm.h"

namespace weft::layers {

/// A short memory in addition to a feed-forward: few columns of each token pass a recurrence along
/// the sequence that has no matrix in its loop.
///   u = norm(x) A + a,  y = simple_recurrence(u G + g, u) O + o
class RecurrentUnit {
 public:
  RecurrentUnit(Index width, Index units, NormKind norm, Init in, Init out);

  /// x: [B * length, W] -> [B * length, W]
  Var forward(const Pass& pass, const Var& x, Index length) const;

  std::unique_ptr<DecodeState> begin() const;
  /// One token.  x: [1, W] -> [1, W]
  Tensor step(const StepRows& rows, const Tensor& x) const;

  Index weights() const { return down_.weights() + gates_.weights() + up_.weights(); }
  void visit(Inventory& inventory);

 private:
  Index units_;
  Norm norm_;
  Linear down_, gates_, up_;  ///< A: [n, W], G: [3 n, n], O: [W, n]
};

}  // namespace weft::layers
