#include "layers/attention/pattern/pattern_attention.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/simd/kernels.h"
#include "layers/attention/check_input.h"
#include "layers/attention/pattern/key_store.h"
#include "layers/attention/relative.h"

namespace weft::layers {

PatternAttention::PatternAttention(const AttentionSite& site, AttentionTraits traits,
                                   std::vector<Pattern> patterns, const ScoreSettings& scores,
                                   std::shared_ptr<Normaliser> shared)
    : traits_(std::move(traits)),
      patterns_(std::move(patterns)),
      heads_(site.heads),
      width_(site.head_width),
      scale_(Real(scores.scale > 0 ? scores.scale : 1 / std::sqrt(double(site.head_width)))),
      relative_(site.relative),
      normaliser_(shared ? std::move(shared)
                         : std::make_shared<Normaliser>(scores.normaliser, site.heads)) {
  core::require(patterns_.size() == 1 || Index(patterns_.size()) == heads_,
                "pattern attention: ", patterns_.size(), " patterns for ", heads_, " heads");
  traits_.relative = true;
  traits_.adaptive = !normaliser_->is_softmax();
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
                          .learns_alpha = normaliser_->is_learned()};
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

/// What a forward call keeps for its pullback.
struct PatternAttention::Kept {
  Tensor levels, mean, alpha_slope;

  /// The gradient of each head's alpha: sum over rows of dout . d out / d alpha.
  std::vector<double> alpha_gradients(const Tensor& dout, Index heads) const {
    std::vector<double> sums(std::size_t(heads), 0.0);
    const Index rows = dout.shape()[0], width = dout.shape()[1] / heads;
    for (Index r = 0; r < rows; ++r)
      for (Index h = 0; h < heads; ++h) {
        const Index at = (r * heads + h) * width;
        sums[std::size_t(h)] +=
            double(core::simd().dot(dout.data() + at, alpha_slope.data() + at, width));
      }
    return sums;
  }
};

Var PatternAttention::forward(const Pass& pass, const AttentionInput& input) const {
  check_input("attention", *this, input, heads_ * width_);
  const Sequences& s = input.sequences;
  const Call call = this->call(pass, input);
  const Index columns = heads_ * width_;
  const HeadGradients gradients(call.blocks, columns);
  std::vector<Var> sources = gradients.sources();
  for (const Var& table : call.tables()) sources.push_back(table);
  if (normaliser_->is_learned()) sources.push_back(normaliser_->parameter(pass));
  const bool recorded = std::ranges::any_of(sources, &Var::tape);
  Tensor out({s.batch * s.queries, columns});
  Kept kept{Tensor({s.batch, heads_, s.queries}), {}, {}};
  PatternTrace trace{kept.levels.write().data()};
  if (recorded && !normaliser_->is_softmax()) {
    kept.mean = Tensor(out.shape());
    trace.slope_mean = {kept.mean.write().data(), columns};
  }
  if (recorded && normaliser_->is_learned()) {
    kept.alpha_slope = Tensor(out.shape());
    trace.alpha_slope = {kept.alpha_slope.write().data(), columns};
  }
  pattern_forward(call.problem, heads_of(call.blocks[0]), heads_of(call.blocks[1]),
                  heads_of(call.blocks[2]), {out.write().data(), columns}, trace);
  if (normaliser_->is_softmax()) kept.mean = out;
  return autograd::record("pattern_attention", std::move(out), sources,
                          [this, call, gradients, kept](Tensor dout) {
                            return pull_back(call, gradients, kept, std::move(dout));
                          });
}

autograd::Gradients PatternAttention::pull_back(const Call& call, const HeadGradients& gradients,
                                                const Kept& kept, Tensor dout) const {
  const Index columns = heads_ * width_;
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
                    {kept.mean.data(), columns},
                    {dout.data(), columns},
                    kept.levels.data()},
                   to);
  if (call.problem.learns_alpha)
    d.push_back(normaliser_->pull_back(kept.alpha_gradients(dout, heads_)));
  return d;
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
  const std::vector<Entmax> entmax = normaliser_->of_heads();
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
          {input.position, head, own(q), own(place), scale_, relative_ ? &kept.terms : nullptr,
           entmax.empty() ? nullptr : &entmax[std::size_t(head)]},
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
