#include "layers/attention/pattern/attention.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/relative.h"
#include "layers/attention/pattern/call.h"
#include "layers/attention/pattern/decoding.h"

namespace weft::layers {

PatternAttention::PatternAttention(const AttentionSite& site, std::vector<Pattern> patterns,
                                   const ScoreSettings& scores, std::shared_ptr<Normaliser> shared)
    : patterns_(std::move(patterns)),
      heads_(site.heads),
      width_(site.head_width),
      scale_(Real(scores.scale > 0 ? scores.scale : 1 / std::sqrt(double(site.head_width)))),
      precision_(site.precision),
      relative_(site.relative),
      normaliser_(shared ? std::move(shared)
                         : std::make_shared<Normaliser>(scores.normaliser, site.heads)) {
  core::require(patterns_.size() == 1 || Index(patterns_.size()) == heads_,
                "pattern attention: ", patterns_.size(), " patterns for ", heads_, " heads");
}

PatternProblem PatternAttention::problem(const Sequences& s) const {
  const auto found = std::ranges::find_if(cache_, [&](const CachedPlans& c) {
    return c.queries == s.queries && c.keys == s.keys && c.causal == s.causal;
  });
  const auto over = [&](const CachedPlans& planned) {
    return PatternProblem{.sequences = s,
                          .heads = heads_,
                          .head_width = width_,
                          .scale = scale_,
                          .plans = planned.plans,
                          .entmax = normaliser_->of_heads(),
                          .learns_alpha = normaliser_->is_learned(),
                          .precision = precision_};
  };
  if (found != cache_.end()) return over(*found);
  CachedPlans fresh{s.queries, s.keys, s.causal, {}};
  for (const Pattern& pattern : patterns_)
    fresh.plans.push_back(
        std::make_shared<const PatternPlan>(plan_pattern(pattern, s.queries, s.keys, s.causal)));
  constexpr std::size_t most = 4;
  if (cache_.size() == most) cache_.erase(cache_.begin());
  cache_.push_back(std::move(fresh));
  return over(cache_.back());
}

Var PatternAttention::forward(const Pass& pass, const AttentionInput& input) const {
  check_input("attention", *this, input, heads_ * width_);
  PatternCall call{problem(input.sequences), input.blocks, {}, {}};
  if (normaliser_->is_learned()) {
    call.normaliser = normaliser_;
    call.alpha = normaliser_->parameter(pass);
  }
  if (relative_) call.place(pass, *relative_);
  return call.attend();
}

std::unique_ptr<DecodeState> PatternAttention::begin() const {
  return std::make_unique<KeyStores>(patterns_, heads_ / Index(patterns_.size()) * width_);
}

void PatternAttention::step(DecodeState& state, const StepInput& input, std::span<Real> out) const {
  static_cast<KeyStores&>(state).step(input, {heads_, width_, scale_, normaliser_->of_heads()},
                                      relative_.get(), nullptr, out);
}

Cost PatternAttention::cost(const Sequences& sequences) const {
  return pattern_cost(problem(sequences), relative_.get());
}

}  // namespace weft::layers
