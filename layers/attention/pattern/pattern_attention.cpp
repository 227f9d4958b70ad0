#include "layers/attention/pattern/pattern_attention.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "layers/attention/check_input.h"
#include "layers/attention/pattern/key_store.h"

namespace weft::layers {

PatternAttention::PatternAttention(const AttentionSite& site, AttentionTraits traits,
                                   std::vector<Pattern> patterns, const ScoreSettings& scores)
    : traits_(std::move(traits)),
      patterns_(std::move(patterns)),
      heads_(site.heads),
      width_(site.head_width),
      scale_(Real(scores.scale > 0 ? scores.scale : 1 / std::sqrt(double(site.head_width)))) {
  core::require(patterns_.size() == 1 || Index(patterns_.size()) == heads_,
                "pattern attention: ", patterns_.size(), " patterns for ", heads_, " heads");
}

PatternProblem PatternAttention::problem(const Sequences& s) const {
  const auto found = std::ranges::find_if(cache_, [&](const CachedPlans& c) {
    return c.queries == s.queries && c.keys == s.keys && c.causal == s.causal;
  });
  if (found != cache_.end()) return {s, heads_, width_, scale_, found->plans};
  CachedPlans fresh{s.queries, s.keys, s.causal, {}};
  for (const Pattern& pattern : patterns_)
    fresh.plans.push_back(
        std::make_shared<const PatternPlan>(plan_pattern(pattern, s.queries, s.keys, s.causal)));
  constexpr std::size_t most = 4;
  if (cache_.size() == most) cache_.erase(cache_.begin());
  cache_.push_back(std::move(fresh));
  return {s, heads_, width_, scale_, cache_.back().plans};
}

Var PatternAttention::forward(const Pass&, const AttentionInput& input) const {
  check_input("attention", *this, input, heads_ * width_);
  const Sequences& s = input.sequences;
  const HeadBlock &q = input.blocks[0], &k = input.blocks[1], &v = input.blocks[2];
  const PatternProblem call = problem(s);
  const Index columns = heads_ * width_;
  Tensor out({s.batch * s.queries, columns});
  Tensor log_sums({s.batch, heads_, s.queries});
  pattern_forward(call, heads_of(q), heads_of(k), heads_of(v), {out.write().data(), columns},
                  log_sums.write().data());
  const HeadGradients gradients(input.blocks, columns);
  const Tensor kept = out;
  return autograd::record(
      "pattern_attention", std::move(out), gradients.sources(),
      [call, gradients, blocks = input.blocks, kept, log_sums, columns](Tensor dout) {
        autograd::Gradients d = gradients.allocate();
        pattern_backward(call, heads_of(blocks[0]), heads_of(blocks[1]), heads_of(blocks[2]),
                         {kept.data(), columns}, log_sums.data(), {dout.data(), columns},
                         gradients.heads(d, 0), gradients.heads(d, 1), gradients.heads(d, 2));
        return d;
      });
}

std::unique_ptr<DecodeState> PatternAttention::begin() const {
  return std::make_unique<KeyStores>(patterns_, heads_ / Index(patterns_.size()) * width_);
}

void PatternAttention::step(DecodeState& state, const StepInput& input, std::span<Real> out) const {
  auto& stores = static_cast<KeyStores&>(state).stores;
  const Index heads_each = heads_ / Index(stores.size());
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const std::size_t first = i * std::size_t(heads_each * width_);
    const auto part = [&](std::span<const Real> x) {
      return x.subspan(first, std::size_t(heads_each * width_));
    };
    stores[i].append(input.position, part(input.blocks[1]), part(input.blocks[2]));
    for (Index h = 0; h < heads_each; ++h)
      stores[i].attend(input.position, h * width_,
                       part(input.blocks[0]).subspan(std::size_t(h * width_), std::size_t(width_)),
                       scale_, out.subspan(first + std::size_t(h * width_), std::size_t(width_)));
    stores[i].forget(input.position);
  }
}

Cost PatternAttention::cost(const Sequences& sequences) const {
  return pattern_cost(problem(sequences));
}

}  // namespace weft::layers
