// Attention whose heads learn how far back they read (adaptive attention span): a fraction z' of
// the largest span for each head, which a soft end makes differentiable and a penalty keeps short.
#include <algorithm>

#include "autograd/ops.h"
#include "layers/attention/spans/attention.h"

namespace weft::layers {
namespace {

struct AdaptiveSettings {
  SpanSettings span;
  double initial = 0;
  double price = 2e-6;

  void fields(core::Fields& field) {
    span.list_soft(field);
    field.number("initial", initial, "initial reach of every head, as a share of the span",
                 core::between(0, 1));
    field.number("price", price, "penalty for each key of a layer's mean reach", core::at_least(0));
  }
};

class LearnedReach final : public SpanRule {
 public:
  LearnedReach(const AdaptiveSettings& settings, Index heads)
      : span_(Real(settings.span.span)),
        price_(Real(settings.price)),
        share_({heads}, {autograd::Init::Law::constant, settings.initial}) {}

  Var reach(const Pass& pass, const Var&) const override {
    return autograd::scale(autograd::as_variable(pass, share_), span_);
  }
  std::vector<double> reaches() const override {
    std::vector<double> all;
    for (const Real share : share_.value().read()) all.push_back(double(share) * double(span_));
    return all;
  }
  Var penalty(const Pass& pass) const override {
    if (price_ == 0 || !pass.training()) return {};
    return autograd::scale(autograd::mean(autograd::as_variable(pass, share_)), price_ * span_);
  }
  Cost cost(Index) const override {
    return {.saved_bytes = share_.shape().size() * Index(sizeof(Real))};
  }
  void constrain() override {
    for (Real& share : share_.writable()) share = std::clamp<Real>(share, 0, 1);
  }
  void visit(autograd::Inventory& inventory) override { inventory.add("reach", share_); }

 private:
  Real span_, price_;
  autograd::Parameter share_;  ///< z / S
};

}  // namespace

AttentionPlan configure_adaptive_span(core::Fields& field, const AttentionSite&) {
  AdaptiveSettings settings;
  settings.fields(field);
  const std::string span = std::to_string(settings.span.span);
  AttentionTraits traits{
      .summary = "softmax over a span before the token that each head learns (adaptive span)",
      .keys_per_token = "each head's own span, at most " + span,
      .decode_state = "the last keys and values, as many as each head's span"};
  const auto make = [settings](const AttentionSite& site) {
    return std::make_unique<SpanAttention>(settings.span, site,
                                           std::make_unique<LearnedReach>(settings, site.heads));
  };
  return settings.span.plan(make, std::move(traits));
}

}  // namespace weft::layers
