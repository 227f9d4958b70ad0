// Forgetting attention: softmax over every earlier key. The score decays by the gates of the tokens
// between key and query,
//   score_tj = scale q_t . k_j + sum of f_i over j < i <= t,  f = ln logistic(x W + b),
// with one f for each token and head. The sums show how far back a key is, so rotary positions
// are not applied.
#include <limits>

#include "layers/attention/contract/fit.h"
#include "layers/attention/fittings/gates.h"
#include "layers/attention/fittings/input_map.h"
#include "layers/attention/pattern/attention.h"

namespace weft::layers {
namespace {

struct ForgettingSettings {
  double scale = 0, bias = 3;

  void fields(core::Fields& field) {
    field.number("bias", bias,
                 "initial bias of the forget gate: at first each token keeps 1 / (1 + e^-bias) of "
                 "earlier weights");
    field.number("scale", scale, "factor of the scores; 0 means 1 / sqrt(head width)",
                 core::at_least(0));
  }
  AttentionTraits traits() const {
    return {
        .summary = "softmax over every earlier key, with scores that decay by a gate of each token",
        .bidirectional = false,
        .cross = false,
        .bf16 = true,
        .keys_per_token = "all before it",
        .decode_state = "every key and value, and a sum for each head"};
  }
};

struct ForgettingState final : DecodeState {
  std::unique_ptr<DecodeState> keys;
  std::vector<double> sums;  ///< of the decays up to each position, [positions, H]
  Index bytes() const override { return keys->bytes() + Index(sums.size() * sizeof(double)); }
  std::unique_ptr<DecodeState> copy() const override {
    auto own = std::make_unique<ForgettingState>();
    own->keys = keys->copy();
    own->sums = sums;
    return own;
  }
};

class ForgettingAttention final : public Attention {
 public:
  ForgettingAttention(const ForgettingSettings& settings, const AttentionSite& site)
      : heads_(site.heads),
        keys_(site, {full_pattern()}, {.scale = settings.scale, .normaliser = {}}),
        fading_(site.width, site.heads,
                {.bias = true, .start = {autograd::Init::Law::constant, settings.bias}}) {}

  std::vector<Projection> projections() const override {
    std::vector<Projection> all = keys_.projections();
    for (Projection& projection : all) projection.rotates = false;
    return all;
  }

  Var forward(const Pass& pass, const AttentionInput& input) const override {
    require_causal_form("forgetting", input.sequences);
    return keys_.attend(pass, input, decays(input.x));
  }

  std::unique_ptr<DecodeState> begin() const override {
    auto state = std::make_unique<ForgettingState>();
    state->keys = keys_.begin();
    return state;
  }

  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override {
    auto& own = static_cast<ForgettingState&>(state);
    Tensor x({1, Index(input.x.size())});
    std::ranges::copy(input.x, x.write().begin());
    const Tensor now = decays(Var(x)).value();
    const std::size_t before = own.sums.size();
    for (std::size_t h = 0; h < std::size_t(heads_); ++h)
      own.sums.push_back((before > 0 ? own.sums[before - std::size_t(heads_) + h] : 0) +
                         double(now.read()[h]));
    keys_.step(*own.keys, input, out, own.sums);
  }

  /// Saves, in addition to what softmax saves: the decays.
  Cost cost(const Sequences& s) const override {
    Cost cost = keys_.cost(s);
    cost += fading_.cost(s.batch * s.queries);
    cost.saved_bytes += s.batch * s.queries * heads_ * Index(sizeof(Real));
    return cost;
  }

  void visit(autograd::Inventory& inventory) override { inventory.enter("fading", fading_); }

 private:
  /// x: [N, W] -> [N, H]
  Var decays(const Var& x) const {
    return log_logistic(fading_.forward(x), 1, std::numeric_limits<Real>::lowest());
  }

  Index heads_;
  PatternAttention keys_;
  InputMap fading_;
};

}  // namespace

AttentionPlan configure_forgetting(core::Fields& fields, const AttentionSite&) {
  return configure<ForgettingSettings, ForgettingAttention>(fields);
}

}  // namespace weft::layers
