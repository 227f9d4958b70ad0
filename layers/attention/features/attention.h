#pragma once

#include "core/fields.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/features/chunks.h"

namespace weft::layers {

/// Attention through a feature map; a mechanism adds its map and what it says of itself.
class FeatureAttention : public Attention {
 public:
  FeatureAttention(std::string_view kind, const AttentionSite& site, double eps, Index chunk)
      : kind_(kind),
        heads_(site.heads),
        width_(site.head_width),
        eps_(Real(eps)),
        chunk_(chunk),
        precision_(site.precision) {}

  /// Saves: the projections, and what FeatureTrace holds; the output unless the map gives shares.
  Var forward(const Pass& pass, const AttentionInput& input) const override;
  std::unique_ptr<DecodeState> begin() const override;
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override;
  Cost cost(const Sequences& sequences) const override;
  Index passed_numbers() const override;

 protected:
  virtual std::shared_ptr<const FeatureMap> map() const = 0;

 private:
  FeatureProblem problem(const Sequences& sequences) const {
    return {sequences, heads_, width_, map(), eps_, chunk_, precision_};
  }

  std::string_view kind_;
  Index heads_, width_;
  Real eps_;
  Index chunk_;
  core::Precision precision_;
};

/// Lists the setting that all of them have.
inline void list_chunk(core::Fields& field, Index& chunk) {
  field.integer("chunk", chunk, "tokens whose weights are worked out together; speed only",
                core::between(1, 1024));
}

}  // namespace weft::layers
