#pragma once

#include <memory>
#include <vector>

#include "core/fields.h"
#include "layers/attention/attention.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// How scores become weights, the same settings in every position-based mechanism.
struct ScoreSettings {
  double scale = 0;

  void fields(core::Fields& field) {
    field.number("scale", scale, "factor of the scores; 0 stands for 1 / sqrt(head width)",
                 core::at_least(0));
  }
};

/// Softmax attention over the pairs of a pattern: what every position-based mechanism is.
class PatternAttention final : public Attention {
 public:
  /// `patterns` holds one for each head of the site, or a single one for all.
  PatternAttention(const AttentionSite& site, AttentionTraits traits, std::vector<Pattern> patterns,
                   const ScoreSettings& scores = {});

  AttentionTraits traits() const override { return traits_; }
  /// Saves: the projections, the output and one log-sum for each query and head.
  Var forward(const Pass& pass, const AttentionInput& input) const override;
  std::unique_ptr<DecodeState> begin() const override;
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override;
  Cost cost(const Sequences& sequences) const override;

 private:
  PatternProblem problem(const Sequences& sequences) const;

  /// Plans of the lengths seen last.
  struct CachedPlans {
    Index queries, keys;
    bool causal;
    std::vector<std::shared_ptr<const PatternPlan>> plans;
  };

  AttentionTraits traits_;
  std::vector<Pattern> patterns_;
  Index heads_, width_;
  Real scale_;
  std::shared_ptr<RelativePositions> relative_;
  mutable std::vector<CachedPlans> cache_;
};

}  // namespace weft::layers
