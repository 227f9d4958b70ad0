// Gated DeltaNet: the delta rule on a memory with a decay that each token chooses,
//   S~ = e^g S,  S <- S~ + b k (v - S~^T k)^T,
//   g = -e^A softplus(x W_a + c),  b = logistic(x W_b),  out = rms(S^T q / sqrt(D)) silu(gate),
// with queries and keys convolved and at unit length.
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"
#include "layers/attention/recurrence/delta_settings.h"
#include "layers/attention/recurrence/starts.h"

namespace weft::layers {
namespace {

struct GatedDeltaNetSettings : DeltaSettings {
  AttentionTraits traits() const {
    return recurrent_traits(
        "a memory in which a value replaces what its key held, with a decay that each token "
        "chooses",
        true);
  }
};

class GatedDeltaNet final : public RecurrentAttention {
 public:
  GatedDeltaNet(const GatedDeltaNetSettings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "gated_deltanet",
                            .rule = {.decay = GateForm::token,
                                     .write = GateForm::token,
                                     .erase = GateForm::token,
                                     .unit = true,
                                     .chunk = settings.chunk},
                            .conv = settings.conv,
                            .norm = {.activation = GatedNormForm::Activation::silu}},
                           site),
        most_(settings.most_erased()),
        strength_(site.width, site.heads, {}),
        fading_(site.width, site.heads, {.bias = true, .start = start_of_steps()}),
        log_rate_({site.heads}, start_of_wide_rates()) {}

 protected:
  TokenGates gates(const Var& x) const override {
    const Var strength = logistic(strength_.forward(x), most_);
    return {.decay = scale_heads(softplus(fading_.forward(x)), log_rate_, -1),
            .write = strength,
            .erase = strength};
  }
  /// Saves: strengths, softplus and decays.
  Cost gate_cost(Index tokens) const override {
    Cost cost = strength_.cost(tokens);
    cost += fading_.cost(tokens);
    cost.saved_bytes += 3 * bytes(tokens, heads());
    return cost;
  }
  void visit_gates(autograd::Inventory& inventory) override {
    inventory.enter("strength", strength_);
    inventory.enter("fading", fading_);
    inventory.add("log_rate", log_rate_);
  }

 private:
  Real most_;
  InputMap strength_, fading_;
  autograd::Parameter log_rate_;
};

}  // namespace

AttentionPlan configure_gated_deltanet(core::Fields& fields, const AttentionSite&) {
  return configure<GatedDeltaNetSettings, GatedDeltaNet>(fields);
}

}  // namespace weft::layers
