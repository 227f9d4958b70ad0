#pragma once

#include <list>

#include "layers/attention/spans/rule.h"
#include "layers/attention/spans/settings.h"

namespace weft::layers {

/// Softmax over the keys just before a token, itself left out, as far back as a rule says for each
/// head, with a soft end: scores, softmax and values are computed for the keys inside each head's
/// own span and no others. Positions are the model's relative ones, or else learned keys for each
/// distance.
class SpanAttention final : public Attention {
 public:
  SpanAttention(const SpanSettings& settings, const AttentionSite& site,
                std::unique_ptr<SpanRule> rule);

  std::vector<Projection> projections() const override { return pattern_projections(kv_heads_); }
  Var forward(const Pass& pass, const AttentionInput& input) const override;
  std::unique_ptr<DecodeState> begin() const override;
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override;
  Cost cost(const Sequences& sequences) const override;
  Index memory_tokens() const override;
  LeftReach left_reach() const override { return {memory_tokens(), 1}; }
  std::vector<double> spans() const override;
  Var penalty(const Pass& pass) const override { return rule_->penalty(pass); }
  void constrain() override { rule_->constrain(); }
  void visit(autograd::Inventory& inventory) override;

 private:
  using Extents = std::vector<Extent>;

  Extents extents_of(const Tensor& reach) const;
  Extent whole_span() const { return {std::int32_t(settings_.span), std::int32_t(settings_.span)}; }
  /// Keys that are scored for an extent.
  Index read(const Extent& extent) const {
    return settings_.renorm_eps > 0 ? settings_.span : extent.length;
  }
  /// The longest of them.
  Index farthest(const Extents& extents) const;
  PatternProblem problem(const Sequences& s, const Extents& extents) const;
  DecodeHeads decode_heads() const;
  std::shared_ptr<const SoftEdge> edge(const Var& reach,
                                       std::shared_ptr<const Extents> extents) const;
  /// Of a head that reads `length` keys, made once while it is among the latest.
  std::shared_ptr<const PatternPlan> plan(const Sequences& s, Index length) const;

  struct KnownPlan {
    Index queries, keys, length;
    std::shared_ptr<const PatternPlan> plan;
  };

  SpanSettings settings_;
  std::unique_ptr<SpanRule> rule_;
  Index heads_, kv_heads_, width_;
  Real scale_;
  core::Precision precision_;
  std::shared_ptr<RelativePositions> relative_;
  bool own_positions_;
  Normaliser normaliser_;
  mutable std::list<KnownPlan> known_;
};

}  // namespace weft::layers
