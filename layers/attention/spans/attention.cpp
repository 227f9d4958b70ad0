#include "layers/attention/spans/attention.h"

#include <algorithm>
#include <cmath>

#include "layers/attention/contract/fit.h"
#include "layers/attention/pattern/call.h"
#include "layers/attention/spans/distance_keys.h"
#include "layers/attention/spans/pattern.h"

namespace weft::layers {

SpanAttention::SpanAttention(const SpanSettings& settings, const AttentionSite& site,
                             std::unique_ptr<SpanRule> rule)
    : settings_(settings),
      rule_(std::move(rule)),
      heads_(site.heads),
      kv_heads_(site.kv_heads),
      width_(site.head_width),
      scale_(Real(settings.scores.scale > 0 ? settings.scores.scale
                                            : 1 / std::sqrt(double(site.head_width)))),
      precision_(site.precision),
      relative_(site.relative),
      own_positions_(!site.relative),
      normaliser_(settings.scores.normaliser, site.heads) {
  if (own_positions_) relative_ = std::make_shared<DistanceKeys>(settings.span, site);
}

/// The float-to-integer decision: x < full when x < z, x < length when x <= z + ramp. A key
/// exactly at an end of the ramp belongs to it, as it does for the gradient of a clamp.
SpanAttention::Extents SpanAttention::extents_of(const Tensor& reach) const {
  const auto most = std::int32_t(settings_.span);
  if (reach.size() == 0) return {whole_span()};
  Extents extents;
  for (const Real z : reach.read()) {
    const double legal = z >= 0 ? std::min(double(z), double(most)) : 0;
    extents.push_back({std::min(most, std::int32_t(std::ceil(legal))),
                       std::min(most, std::int32_t(legal + double(settings_.ramp)) + 1),
                       !(z >= 0)});
  }
  return extents;
}

Index SpanAttention::farthest(const Extents& extents) const {
  Index most = 0;
  for (const Extent& extent : extents) most = std::max(most, read(extent));
  return most;
}

std::shared_ptr<const PatternPlan> SpanAttention::plan(const Sequences& s, Index length) const {
  length = std::min(length, s.keys);
  const auto found = std::ranges::find_if(known_, [&](const KnownPlan& k) {
    return k.queries == s.queries && k.keys == s.keys && k.length == length;
  });
  if (found != known_.end()) return found->plan;
  const Pattern pattern = span_pattern({length}, s.keys - s.queries);
  known_.push_front(
      {s.queries, s.keys, length,
       std::make_shared<const PatternPlan>(plan_pattern(pattern, s.queries, s.keys, true))});
  if (Index(known_.size()) > 4 * heads_) known_.pop_back();
  return known_.front().plan;
}

/// One plan for each head, or for each head of each sequence where tokens differ.
PatternProblem SpanAttention::problem(const Sequences& s, const Extents& extents) const {
  PatternProblem problem{.sequences = s,
                         .heads = heads_,
                         .head_width = width_,
                         .scale = scale_,
                         .plans = {},
                         .kv_heads = kv_heads_,
                         .precision = precision_};
  if (!rule_->by_token()) {
    for (const Extent& extent : extents) problem.plans.push_back(plan(s, read(extent)));
    return problem;
  }
  for (Index lane = 0; lane < s.batch * heads_; ++lane) {
    std::vector<Index> lengths;
    for (Index i = 0; i < s.queries; ++i) {
      const Index token = lane / heads_ * s.queries + i;
      lengths.push_back(read(extents[std::size_t(token * heads_ + lane % heads_)]));
    }
    const Pattern pattern = span_pattern(std::move(lengths), s.keys - s.queries);
    problem.plans.push_back(std::make_shared<const PatternPlan>(
        plan_pattern(pattern, s.queries, s.keys, true, {.cut = PanelCut::aligned})));
  }
  return problem;
}

std::shared_ptr<const SoftEdge> SpanAttention::edge(const Var& reach,
                                                    std::shared_ptr<const Extents> extents) const {
  if (reach.value().size() == 0) return nullptr;
  return std::make_shared<const SoftEdge>(
      SoftEdge{Real(settings_.ramp), Real(settings_.renorm_eps), reach.value().data(),
               rule_->by_token() ? heads_ : 0, std::move(extents)});
}

Var SpanAttention::forward(const Pass& pass, const AttentionInput& input) const {
  check_input("span", *this, input, heads_, width_);
  const Var reach = rule_->reach(pass, input.x);
  const auto extents = pass.decide("spans", [&] { return extents_of(reach.value()); });
  PatternCall call{problem(input.sequences, *extents), input.blocks, {}, reach};
  call.problem.edge = edge(reach, extents);
  call.sinks = normaliser_.sinks(pass);
  call.place(pass, *relative_, farthest(*extents));
  return rule_->charged(pass, call.attend(), reach);
}

std::unique_ptr<DecodeState> SpanAttention::begin() const {
  Extents extents{whole_span()};
  if (!rule_->by_token()) extents = extents_of(rule_->reach(Pass(), {}).value());
  std::vector<Pattern> patterns;
  for (const Extent& extent : extents) patterns.push_back(span_pattern({read(extent)}));
  return std::make_unique<KeyStores>(std::move(patterns), decode_heads());
}

DecodeHeads SpanAttention::decode_heads() const {
  return {heads_, width_, scale_, {}, kv_heads_, normaliser_.sinks(Pass()).value()};
}

void SpanAttention::step(DecodeState& state, const StepInput& input, std::span<Real> out) const {
  Tensor x({1, Index(input.x.size())});
  std::ranges::copy(input.x, x.write().begin());
  const Var reach = rule_->reach(Pass(), Var(x));
  const auto soft = edge(reach, std::make_shared<const Extents>(extents_of(reach.value())));
  static_cast<KeyStores&>(state).step(input, decode_heads(), relative_.get(), soft.get(), out);
}

/// Where tokens differ, as if each read the whole span.
Cost SpanAttention::cost(const Sequences& s) const {
  Extents extents{whole_span()};
  if (rule_->by_token())
    extents.resize(std::size_t(s.batch * s.queries * heads_), whole_span());
  else
    extents = extents_of(rule_->reach(Pass(), {}).value());
  Cost cost = pattern_cost(problem(s, extents), relative_.get(), farthest(extents));
  cost += rule_->cost(s.batch * s.queries);
  return cost;
}

Index SpanAttention::memory_tokens() const {
  if (rule_->by_token()) return settings_.span;
  return farthest(extents_of(rule_->reach(Pass(), {}).value()));
}

std::vector<double> SpanAttention::spans() const {
  std::vector<double> spans = rule_->reaches();
  const double most = double(settings_.span);
  if (spans.empty()) return std::vector<double>(std::size_t(heads_), most);
  for (double& z : spans) z = std::min(most, z + double(settings_.ramp));
  return spans;
}

void SpanAttention::visit(autograd::Inventory& inventory) {
  rule_->visit(inventory);
  if (own_positions_) relative_->visit(inventory);
  normaliser_.visit(inventory);
}

}  // namespace weft::layers
