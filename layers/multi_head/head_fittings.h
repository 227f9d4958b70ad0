#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/fittings/gated_norm.h"
#include "layers/attention/fittings/input_map.h"
#include "layers/attention/fittings/short_convolution.h"

namespace weft::layers {

/// The norm of what leaves each head.
enum class OutputNorm { none, rms };

/// Options that can be added around the heads of any mechanism.
struct FittingSettings {
  Index kv_heads = 0;
  bool qk_norm = false;
  Index conv = 0;
  OutputNorm norm = OutputNorm::none;
  GatedNormForm::Activation gate = GatedNormForm::Activation::none;

  /// Lists what a mechanism of these traits does not have itself, and reports what a group of
  /// `heads` heads cannot have.
  void fields(core::Fields& field, const AttentionTraits& traits, Index heads);
  /// Heads of keys and values that a group of `heads` heads shares; 0 where each has its own.
  Index shared_of(Index heads) const { return kv_heads == heads ? 0 : kv_heads; }
};

/// The fittings of a head group. From the projections on: a short convolution, the norm of queries
/// and keys, then rotary positions, then heads of keys and values repeated where a mechanism cannot
/// read shared ones itself; after the mechanism a norm and a gate.
class HeadFittings {
 public:
  /// `projections` with the heads of each; `repeats`: the mechanism reads a head of keys and
  /// values for each of its heads.
  HeadFittings(const FittingSettings& settings, const std::vector<Projection>& projections,
               const AttentionSite& site, bool repeats);

  std::vector<HeadBlock> convolve(const std::vector<HeadBlock>& blocks, Index length) const;
  std::vector<HeadBlock> normalise(const std::vector<HeadBlock>& blocks) const;
  std::vector<HeadBlock> repeat(const std::vector<HeadBlock>& blocks) const;
  /// heads: [N, H D], x: the layer's input, [N, W] -> [N, H D]
  Var finish(const Var& heads, const Var& x) const;

  /// What the convolution keeps of one sequence; null without one.
  std::unique_ptr<DecodeState> begin() const;
  /// One token up to rotary positions.  packed: all projections side by side -> a row for each
  std::vector<std::vector<Real>> step(DecodeState* state, const Tensor& packed) const;
  /// One token, after rotary positions.
  void repeat(std::vector<std::vector<Real>>& rows) const;

  /// What the fittings add to a mechanism's cost.
  Cost cost(const Sequences& sequences) const;
  void visit(autograd::Inventory& inventory);

 private:
  Index columns(std::size_t i) const { return projections_[i].columns(heads_, width_); }
  bool gated() const { return gate_.has_value(); }

  FittingSettings settings_;
  std::vector<Projection> projections_;
  Index heads_, width_;
  bool repeats_;
  std::optional<ShortConvolution> conv_;
  std::vector<std::optional<autograd::Parameter>> input_gains_;  ///< of each projection, [D]
  std::optional<autograd::Parameter> output_gain_;               ///< [D]
  std::optional<InputMap> gate_;
};

}  // namespace weft::layers
