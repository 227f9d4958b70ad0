#pragma once

#include <memory>
#include <vector>

#include "core/fields.h"
#include "layers/attention/contract/normaliser.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/pattern/decoding.h"

namespace weft::layers {

/// How scores become weights, the same settings in every position-based mechanism.
struct ScoreSettings {
  double scale = 0;
  NormaliserSettings normaliser;
  Index first = 0;  ///< tokens that everyone reads

  void fields(core::Fields& field) {
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
    normaliser.fields(field);
  }
  /// Lists it for mechanisms that leave keys out.
  void list_first(core::Fields& field) {
    field.added("first");
    field.integer("first", first, "the first tokens of a sequence, which every token reads too",
                  core::between(0, 65536));
  }
  /// A pattern and the first tokens.
  Pattern with_first(Pattern pattern) const;
  /// The traits of a mechanism on this engine, which reads relative positions; under entmax the
  /// data decide which keys get a weight.
  AttentionTraits complete(AttentionTraits traits) const;
};

/// Queries of all heads, keys and values of those that neighbouring heads share (0: of all).
std::vector<Projection> pattern_projections(Index kv_heads);

/// Attention over the pairs of a pattern: what every position-based mechanism is.
class PatternAttention final : public Attention {
 public:
  /// `patterns` holds one for each head of the site, or a single one for all. Parts of one
  /// mechanism can share a normaliser, which one of them lists.
  PatternAttention(const AttentionSite& site, std::vector<Pattern> patterns,
                   const ScoreSettings& scores = {}, std::shared_ptr<Normaliser> shared = nullptr);

  std::vector<Projection> projections() const override { return pattern_projections(kv_heads_); }
  /// Saves: the projections, and for each query and head the output and one log-sum; under entmax
  /// the values by slopes and one threshold, for a learned alpha its derivative too.
  Var forward(const Pass& pass, const AttentionInput& input) const override {
    return attend(pass, input, {});
  }
  /// The same where scores decay from token to token.  decay: [B n, H], or empty
  Var attend(const Pass& pass, const AttentionInput& input, const Var& decay) const;
  std::unique_ptr<DecodeState> begin() const override;
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    step(state, input, out, {});
  }
  /// `decay`: the sums of decays up to each position, [positions, H], or empty
  void step(DecodeState& state, const StepInput& input, std::span<Real> out,
            std::span<const double> decay) const;
  Cost cost(const Sequences& sequences) const override;
  LeftReach left_reach() const override { return layers::left_reach(patterns_); }
  void visit(autograd::Inventory& inventory) override { normaliser_->visit(inventory); }

  const std::shared_ptr<Normaliser>& normaliser() const { return normaliser_; }

 private:
  PatternProblem problem(const Sequences& sequences) const;
  DecodeHeads decode_heads() const;

  /// Plans of the lengths seen last.
  struct CachedPlans {
    Index queries, keys;
    bool causal;
    Index shift;  ///< of the pattern against the queries
    std::vector<std::shared_ptr<const PatternPlan>> plans;
  };

  std::vector<Pattern> patterns_;
  Index heads_, kv_heads_, width_;
  Real scale_;
  core::Precision precision_;
  std::shared_ptr<RelativePositions> relative_;
  std::shared_ptr<Normaliser> normaliser_;
  mutable std::vector<CachedPlans> cache_;
};

}  // namespace weft::layers
