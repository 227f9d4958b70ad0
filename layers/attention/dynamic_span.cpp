// Attention whose heads choose for every token how far back it reads (dynamic attention span):
// z = S logistic(v . x + b).
#include <cmath>

#include "autograd/ops.h"
#include "layers/attention/spans/attention.h"

namespace weft::layers {
namespace {

struct DynamicSettings {
  SpanSettings span;
  double bias = -4;
  double price = 2e-6;

  void fields(core::Fields& field) {
    span.list_soft(field);
    field.number("bias", bias, "initial b: the first reaches are about span / (1 + e^-bias)");
    field.number("price", price, "penalty for each key of a layer's mean reach", core::at_least(0));
  }
};

/// y = factor / (1 + e^-x); dx = dy y (1 - y / factor).  Saves: y.
Var scaled_logistic(const Var& x, Real factor) {
  Tensor y(x.shape());
  std::span<Real> to = y.write();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = factor / (1 + std::exp(-x.value().read()[i]));
  const Tensor kept = y;
  return autograd::record("scaled_logistic", std::move(y), {x}, [kept, factor](Tensor dy) {
    std::span<Real> d = dy.write();
    for (std::size_t i = 0; i < d.size(); ++i)
      d[i] *= kept.read()[i] * (1 - kept.read()[i] / factor);
    return autograd::Gradients{std::move(dy)};
  });
}

class ChosenReach final : public SpanRule {
 public:
  ChosenReach(const DynamicSettings& settings, const AttentionSite& site)
      : span_(Real(settings.span.span)),
        price_(Real(settings.price)),
        heads_(site.heads),
        weight_({site.heads, site.width}, autograd::Init::normal(0.02)),
        bias_({site.heads}, {autograd::Init::Law::constant, settings.bias}),
        mean_(Tensor({site.heads}, 0), [](std::span<Real> value, std::span<const Real> sums) {
          for (std::size_t h = 0; h < value.size(); ++h) value[h] = sums[h] / sums[value.size()];
        }) {}

  Var reach(const Pass&, const Var& x) const override {
    return scaled_logistic(autograd::linear(x, weight_, &bias_), span_);
  }
  bool by_token() const override { return true; }
  std::vector<double> reaches() const override {
    const auto means = mean_.value().read();
    return {means.begin(), means.end()};
  }
  Var charged(const Pass& pass, const Var& out, const Var& reach) const override {
    if (!pass.training()) return out;
    Tensor sums({heads_ + 1}, 0);
    std::span<Real> to = sums.write();
    for (std::size_t i = 0; i < reach.value().read().size(); ++i)
      to[i % std::size_t(heads_)] += reach.value().read()[i];
    to[std::size_t(heads_)] = Real(reach.shape()[0]);
    pass.propose(mean_, std::move(sums));
    if (price_ == 0) return out;
    return autograd::penalise(pass, out, autograd::scale(autograd::mean(reach), price_));
  }
  /// A product for each token; the reaches are kept, and sums by the journal.
  Cost cost(Index tokens) const override {
    const Index product = 2 * tokens * weight_.shape().size();
    return {.flops = product,
            .backward_flops = 2 * product,
            .saved_bytes = (tokens * heads_ + heads_ + 1) * Index(sizeof(Real))};
  }
  void visit(autograd::Inventory& inventory) override {
    inventory.add("reach_weight", weight_);
    inventory.add("reach_bias", bias_);
    inventory.add("mean_reach", mean_);
  }

 private:
  Real span_, price_;
  Index heads_;
  autograd::Parameter weight_, bias_;
  mutable autograd::State mean_;  ///< of the last step
};

}  // namespace

AttentionPlan configure_dynamic_span(core::Fields& field, const AttentionSite&) {
  DynamicSettings settings;
  settings.fields(field);
  const std::string span = std::to_string(settings.span.span);
  AttentionTraits traits{
      .summary =
          "softmax over a span before the token that each head chooses for it (dynamic span)",
      .adaptive = true,
      .keys_per_token = "as the token asks for, at most " + span,
      .decode_state = "the last " + span + " keys and values"};
  const auto make = [settings](const AttentionSite& site) {
    return std::make_unique<SpanAttention>(settings.span, site,
                                           std::make_unique<ChosenReach>(settings, site));
  };
  return settings.span.plan(make, std::move(traits));
}

}  // namespace weft::layers
