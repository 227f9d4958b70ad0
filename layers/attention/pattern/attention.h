#pragma once

#include <memory>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/normaliser.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// How scores become weights, the same settings in every position-based mechanism.
struct ScoreSettings {
  double scale = 0;
  NormaliserSettings normaliser;

  void fields(core::Fields& field) {
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
    normaliser.fields(field);
  }
  /// The traits of a mechanism on this engine, which reads relative positions; under entmax the
  /// data decide which keys get a weight.
  AttentionTraits complete(AttentionTraits traits) const {
    traits.relative = true;
    traits.bf16 = normaliser.is_softmax();
    traits.adaptive = !normaliser.is_softmax();
    return traits;
  }
};

/// Attention over the pairs of a pattern: what every position-based mechanism is.
class PatternAttention final : public Attention {
 public:
  /// `patterns` holds one for each head of the site, or a single one for all. Parts of one
  /// mechanism can share a normaliser, which one of them lists.
  PatternAttention(const AttentionSite& site, std::vector<Pattern> patterns,
                   const ScoreSettings& scores = {}, std::shared_ptr<Normaliser> shared = nullptr);

  /// Saves: the projections, and for each query and head the output and one log-sum; under entmax
  /// the values by slopes and one threshold, for a learned alpha its derivative too.
  Var forward(const Pass& pass, const AttentionInput& input) const override;
  std::unique_ptr<DecodeState> begin() const override;
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override;
  Cost cost(const Sequences& sequences) const override;
  void visit(autograd::Inventory& inventory) override { normaliser_->visit(inventory); }

  const std::shared_ptr<Normaliser>& normaliser() const { return normaliser_; }

 private:
  PatternProblem problem(const Sequences& sequences) const;

  /// Plans of the lengths seen last.
  struct CachedPlans {
    Index queries, keys;
    bool causal;
    std::vector<std::shared_ptr<const PatternPlan>> plans;
  };

  std::vector<Pattern> patterns_;
  Index heads_, width_;
  Real scale_;
  core::Precision precision_;
  std::shared_ptr<RelativePositions> relative_;
  std::shared_ptr<Normaliser> normaliser_;
  mutable std::vector<CachedPlans> cache_;
};

}  // namespace weft::layers
