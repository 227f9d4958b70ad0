#include "layers/attention/pattern/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "layers/attention/contract/fit.h"
#include "layers/attention/contract/relative.h"
#include "layers/attention/pattern/call.h"

namespace weft::layers {

Pattern ScoreSettings::with_first(Pattern pattern) const {
  if (first == 0) return pattern;
  std::vector<Index> positions(static_cast<std::size_t>(first));
  std::iota(positions.begin(), positions.end(), 0);
  return united(std::move(pattern), global_pattern(std::move(positions), GlobalMode::columns));
}

AttentionTraits ScoreSettings::complete(AttentionTraits traits) const {
  traits.relative = true;
  traits.bf16 = normaliser.is_softmax();
  traits.adaptive = !normaliser.is_softmax();
  if (first == 0) return traits;
  const std::string more = core::message_of(", and the first ", first);
  traits.keys_per_token += more;
  traits.decode_state += more;
  return traits;
}

PatternAttention::PatternAttention(const AttentionSite& site, std::vector<Pattern> patterns,
                                   const ScoreSettings& scores, std::shared_ptr<Normaliser> shared)
    : patterns_(std::move(patterns)),
      heads_(site.heads),
      kv_heads_(site.kv_heads),
      width_(site.head_width),
      scale_(Real(scores.scale > 0 ? scores.scale : 1 / std::sqrt(double(site.head_width)))),
      precision_(site.precision),
      relative_(site.relative),
      normaliser_(shared ? std::move(shared)
                         : std::make_shared<Normaliser>(scores.normaliser, site.heads)) {
  core::require(patterns_.size() == 1 || Index(patterns_.size()) == heads_,
                "pattern attention: ", patterns_.size(), " patterns for ", heads_, " heads");
  core::require(heads_ % site.key_heads() == 0, "pattern attention: ", site.key_heads(),
                " heads of keys cannot serve ", heads_, " heads evenly");
}

std::vector<Projection> pattern_projections(Index kv_heads) {
  using Side = Projection::Side;
  return {{"q", Side::queries, true},
          {"k", Side::keys, true, kv_heads},
          {"v", Side::keys, false, kv_heads}};
}

PatternProblem PatternAttention::problem(const Sequences& s) const {
  // In a chunk keys begin further left than queries, and the pattern with them.
  const Index shift = s.chunk ? s.keys - s.queries : 0;
  const auto found = std::ranges::find_if(cache_, [&](const CachedPlans& c) {
    return c.queries == s.queries && c.keys == s.keys && c.causal == s.causal && c.shift == shift;
  });
  const auto over = [&](const CachedPlans& planned) {
    return PatternProblem{.sequences = s,
                          .heads = heads_,
                          .head_width = width_,
                          .scale = scale_,
                          .plans = planned.plans,
                          .entmax = normaliser_->of_heads(),
                          .learns_alpha = normaliser_->is_learned(),
                          .kv_heads = kv_heads_,

                          .precision = precision_};
  };
  if (found != cache_.end()) return over(*found);
  CachedPlans fresh{s.queries, s.keys, s.causal, shift, {}};
  for (const Pattern& pattern : patterns_)
    fresh.plans.push_back(std::make_shared<const PatternPlan>(
        plan_pattern(pattern, s.queries, s.keys, s.causal, {.shift = shift})));
  constexpr std::size_t most = 4;
  if (cache_.size() == most) cache_.erase(cache_.begin());
  cache_.push_back(std::move(fresh));
  return over(cache_.back());
}

Var PatternAttention::attend(const Pass& pass, const AttentionInput& input,
                             const Var& decay) const {
  check_input("attention", *this, input, heads_, width_);
  PatternCall call{problem(input.sequences), input.blocks, {}, {}};
  if (normaliser_->is_learned()) {
    call.normaliser = normaliser_;
    call.alpha = normaliser_->parameter(pass);
  }
  call.sinks = normaliser_->sinks(pass);
  call.decay = decay;
  if (relative_) call.place(pass, *relative_);
  return call.attend();
}

std::unique_ptr<DecodeState> PatternAttention::begin() const {
  return std::make_unique<KeyStores>(patterns_, decode_heads());
}

void PatternAttention::step(DecodeState& state, const StepInput& input, std::span<Real> out,
                            std::span<const double> decay) const {
  DecodeHeads of = decode_heads();
  of.decay = decay;
  static_cast<KeyStores&>(state).step(input, of, relative_.get(), nullptr, out);
}

DecodeHeads PatternAttention::decode_heads() const {
  return {heads_,    width_,
          scale_,    normaliser_->of_heads(),
          kv_heads_, normaliser_->sinks(Pass()).value()};
}

Cost PatternAttention::cost(const Sequences& sequences) const {
  return pattern_cost(problem(sequences), relative_.get());
}

}  // namespace weft::layers
