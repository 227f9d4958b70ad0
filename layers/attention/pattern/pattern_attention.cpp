#include "layers/attention/pattern/pattern_attention.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "layers/attention/check_input.h"
#include "layers/attention/pattern/key_store.h"
#include "layers/attention/relative.h"

namespace weft::layers {

PatternAttention::PatternAttention(const AttentionSite& site, AttentionTraits traits,
                                   std::vector<Pattern> patterns, const ScoreSettings& scores)
    : traits_(std::move(traits)),
      patterns_(std::move(patterns)),
      heads_(site.heads),
      width_(site.head_width),
      scale_(Real(scores.scale > 0 ? scores.scale : 1 / std::sqrt(double(site.head_width)))),
      relative_(site.relative) {
  core::require(patterns_.size() == 1 || Index(patterns_.size()) == heads_,
                "pattern attention: ", patterns_.size(), " patterns for ", heads_, " heads");
  traits_.relative = true;
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

/// One forward call, as its pullback needs it again.
struct PatternAttention::Call {
  PatternProblem problem;
  std::vector<HeadBlock> blocks;
  RelativePositions::Terms terms;

  /// The tables that take part, in the order keys, values, bias.
  std::vector<Var> tables() const {
    std::vector<Var> present;
    for (const Var* table : {&terms.keys, &terms.values, &terms.bias})
      if (table->value().size() > 0) present.push_back(*table);
    return present;
  }
};

PatternAttention::Call PatternAttention::call(const Pass& pass, const AttentionInput& input) const {
  Call call{problem(input.sequences), input.blocks, {}};
  if (!relative_) return call;
  const Sequences& s = input.sequences;
  const Index shift = call.problem.shift();
  call.terms = relative_->terms(pass, std::max<Index>(0, s.queries - 1 + shift),
                                s.causal ? 0 : std::max<Index>(0, s.keys - 1));
  call.blocks[0] = relative_->content(pass, input.blocks[0]);
  call.blocks.push_back(relative_->place(pass, input.blocks[0]));
  call.problem.relative = std::make_shared<const RelativeTerms>(
      relative_terms(call.terms, heads_of(call.blocks[3]), heads_, width_));
  return call;
}

Var PatternAttention::forward(const Pass& pass, const AttentionInput& input) const {
  check_input("attention", *this, input, heads_ * width_);
  const Sequences& s = input.sequences;
  const Call call = this->call(pass, input);
  const Index columns = heads_ * width_;
  Tensor out({s.batch * s.queries, columns});
  Tensor log_sums({s.batch, heads_, s.queries});
  pattern_forward(call.problem, heads_of(call.blocks[0]), heads_of(call.blocks[1]),
                  heads_of(call.blocks[2]), {out.write().data(), columns}, log_sums.write().data());
  const HeadGradients gradients(call.blocks, columns);
  std::vector<Var> sources = gradients.sources();
  for (const Var& table : call.tables()) sources.push_back(table);
  const Tensor kept = out;
  return autograd::record(
      "pattern_attention", std::move(out), sources,
      [call, gradients, kept, log_sums, columns](Tensor dout) {
        autograd::Gradients d = gradients.allocate();
        PatternGradients to{gradients.heads(d, 0), gradients.heads(d, 1), gradients.heads(d, 2)};
        if (call.problem.relative) to.place = gradients.heads(d, 3);
        const auto table_gradient = [&](const Var& table) -> Real* {
          if (table.value().size() == 0) return nullptr;
          d.emplace_back(table.shape());
          return d.back().write().data();
        };
        to.keys = table_gradient(call.terms.keys);
        to.values = table_gradient(call.terms.values);
        to.bias = table_gradient(call.terms.bias);
        pattern_backward(call.problem,
                         {heads_of(call.blocks[0]),
                          heads_of(call.blocks[1]),
                          heads_of(call.blocks[2]),
                          {kept.data(), columns},
                          {dout.data(), columns},
                          log_sums.data()},
                         to);
        return d;
      });
}

std::unique_ptr<DecodeState> PatternAttention::begin() const {
  return std::make_unique<KeyStores>(patterns_, heads_ / Index(patterns_.size()) * width_);
}

void PatternAttention::step(DecodeState& state, const StepInput& input, std::span<Real> out) const {
  auto& kept = static_cast<KeyStores&>(state);
  const Index row = heads_ * width_;
  std::span<const Real> q = input.blocks[0], place = q;
  HeadBlock content_block, place_block;
  if (relative_) {
    kept.reach(input.position, *relative_, heads_, width_);
    Tensor queries({1, row});
    std::ranges::copy(q, queries.write().begin());
    content_block = relative_->content(Pass(), {Var(queries), 0});
    place_block = relative_->place(Pass(), {Var(queries), 0});
    q = content_block.matrix.value().read();
    place = place_block.matrix.value().read();
  }
  const Index heads_each = heads_ / Index(kept.stores.size());
  const auto each = std::size_t(heads_each * width_);
  for (std::size_t i = 0; i < kept.stores.size(); ++i) {
    KeyStore& store = kept.stores[i];
    store.append(input.position, input.blocks[1].subspan(i * each, each),
                 input.blocks[2].subspan(i * each, each));
    const auto slots = store.readable(input.position);
    for (Index h = 0; h < heads_each; ++h) {
      const Index head = Index(i) * heads_each + h;
      const auto own = [&](std::span<const Real> x) {
        return x.subspan(std::size_t(head * width_), std::size_t(width_));
      };
      store.attend(
          {input.position, head, own(q), own(place), scale_, relative_ ? &kept.terms : nullptr},
          h * width_, slots, out.subspan(std::size_t(head * width_), std::size_t(width_)));
    }
    store.forget(input.position);
  }
}

Cost PatternAttention::cost(const Sequences& sequences) const {
  if (!relative_) return pattern_cost(problem(sequences));
  const Index row = heads_ * width_;
  AttentionInput nothing{{}, {}, sequences};
  nothing.blocks.assign(3, {Var(Tensor({1, row})), 0});
  return pattern_cost(call(Pass(), nothing).problem);
}

}  // namespace weft::layers
