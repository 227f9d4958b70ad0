// Differential attention, version 2: each head has two queries over the same keys and values, and
// the second result is taken off the first,
//   out_h = o_2h - logistic(x W)_h o_(2h + 1).
#include "layers/attention/fittings/gates.h"
#include "layers/attention/fittings/input_map.h"
#include "layers/attention/pattern/attention.h"

namespace weft::layers {
namespace {

struct DifferentialSettings {
  double scale = 0;

  void fields(core::Fields& field) {
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
  }
  AttentionTraits traits() const {
    return {.summary =
                "the difference of two softmaxes over every earlier key, with two queries per head",
            .bf16 = true,
            .queries_alone = true,
            .keys_per_token = "all before it, twice",
            .decode_state = "every key and value"};
  }
};

class DifferentialAttention final : public Attention {
 public:
  DifferentialAttention(const DifferentialSettings& settings, const AttentionSite& site)
      : heads_(site.heads),
        kv_heads_(site.kv_heads),
        width_(site.head_width),
        pairs_(doubled(site), {full_pattern()}, {.scale = settings.scale, .normaliser = {}}),
        share_(site.width, site.heads, {}) {}

  std::vector<Projection> projections() const override {
    std::vector<Projection> all = pattern_projections(kv_heads_);
    all[0].heads = 2 * heads_;
    return all;
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    return subtract_gated(pairs_.forward(pass, input), share_.forward(input.x));
  }

  std::unique_ptr<DecodeState> begin() const override { return pairs_.begin(); }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    Tensor x({1, Index(input.x.size())}), both({1, 2 * heads_ * width_});
    std::ranges::copy(input.x, x.write().begin());
    pairs_.step(state, input, both.write());
    const Tensor y = subtract_gated(Var(both), share_.forward(Var(x))).value();
    std::ranges::copy(y.read(), out.begin());
  }

  /// Saves, in addition to what the softmaxes save: the shares.
  Cost cost(const Sequences& s) const override {
    Cost cost = pairs_.cost(s);
    cost += share_.cost(s.batch * s.queries);
    cost.saved_bytes += s.batch * s.queries * heads_ * Index(sizeof(Real));
    return cost;
  }

  void visit(autograd::Inventory& inventory) override { inventory.enter("share", share_); }

 private:
  /// Two heads of queries where the site has one.
  static AttentionSite doubled(AttentionSite site) {
    site.kv_heads = site.key_heads();
    site.heads *= 2;
    return site;
  }

  Index heads_, kv_heads_, width_;
  PatternAttention pairs_;
  InputMap share_;
};

}  // namespace

AttentionPlan configure_differential(core::Fields& fields, const AttentionSite&) {
  return configure<DifferentialSettings, DifferentialAttention>(fields);
}

}  // namespace weft::layers
