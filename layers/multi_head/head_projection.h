#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/step_rows.h"
#include "layers/parts/density.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// How a layer's input becomes what its attention compares and mixes.
struct ProjectionSettings {
  Density kind = Density::dense;
  Index modules = 0;  ///< S; 0: as many as heads
  Index taps = 3;     ///< tokens under each convolution

  void fields(core::Fields& field);
  bool sparse() const { return kind == Density::sparse; }
  Index modules_of(Index heads) const { return modules > 0 ? modules : heads; }
  /// Why a group of this many heads and columns cannot have it; empty if it can.
  std::string why_unfit(Index heads, Index columns) const;
};

/// The projections of a head group, made from the layer's input.
class HeadProjection {
 public:
  virtual ~HeadProjection() = default;

  /// x: [B * T, W] -> a block of H D columns for each projection
  virtual std::vector<HeadBlock> forward(const Pass& pass, const Var& x, Index length) const = 0;

  /// The last blocks of `forward`, each sequence after the projections of what it carries from
  /// before, [B * C, W], from which only the parameters learn.
  virtual std::vector<HeadBlock> behind_past(const Pass& pass, const Tensor& before,
                                             const std::vector<HeadBlock>& now,
                                             Index batch) const = 0;

  /// What one sequence keeps for its next token; null for nothing.
  virtual std::unique_ptr<DecodeState> begin() const { return nullptr; }
  /// Single tokens.  x: [n, W] -> [n, P H D], the blocks side by side
  virtual Tensor step(const StepRows& rows, const Tensor& x) const = 0;

  virtual Index weights() const = 0;
  virtual void visit(Inventory& inventory) = 0;
};

}  // namespace weft::layers
