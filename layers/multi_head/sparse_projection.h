#pragma once

#include "autograd/module_plane.h"
#include "layers/multi_head/head_projection.h"
#include "layers/parts/multiplicative.h"

namespace weft::layers {

/// One multiplicative layer that all projections share lays each token out as S modules of M
/// columns; then each projection has a separate convolution over tokens and modules, causal over
/// the tokens: `taps` tokens by three modules, and by one module for values.
/// One token reads W (S + M) weights of the first and taps * 3 * M² or taps * M² of each other.
class SparseProjection final : public HeadProjection {
 public:
  SparseProjection(const std::vector<Projection>& projections, Index width, Index modules,
                   Index columns, Index taps);

  std::vector<HeadBlock> forward(const Pass& pass, const Var& x, Index length) const override;
  /// Refuses: the convolutions would have to go on from before as well.
  std::vector<HeadBlock> behind_past(const Pass&, const Tensor&, const std::vector<HeadBlock>&,
                                     Index) const override;
  std::unique_ptr<DecodeState> begin() const override;
  Tensor step(const StepRows& rows, const Tensor& x) const override;

  Index weights() const override;
  void visit(Inventory& inventory) override;

 private:
  struct Convolution {
    std::string name;
    Parameter weight, bias;  ///< [F, C, M, M], [M]
  };
  autograd::ModulePlane plane(const Convolution& convolution) const;
  /// One token.  x: [1, W] -> [1, P H D]
  Tensor step_row(DecodeState& state, const Tensor& x) const;

  Index modules_, channels_, taps_;
  Multiplicative mix_;
  std::vector<Convolution> convolutions_;
};

}  // namespace weft::layers
