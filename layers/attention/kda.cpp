// Kimi delta attention: the delta rule on a memory with a decay that each token chooses by column,
//   S~ = diag(e^g) S,  S <- S~ + b k (v - S~^T k)^T,  b = logistic(x W_b),
//   g = floor logistic(e^A (x F1 F2 + c)), without a floor -e^A softplus(x F1 F2 + c),
//   out = rms(S^T q / sqrt(D)) logistic(gate), the gate by two matrices and a bias,
// with queries and keys convolved and at unit length.
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"
#include "layers/attention/recurrence/column_fading.h"

namespace weft::layers {
namespace {

struct KdaSettings : ColumnFadingSettings {
  AttentionTraits traits() const {
    return recurrent_traits(
        "a memory in which a value replaces what its key held, with a decay chosen column by "
        "column",
        true);
  }
};

class KimiDelta final : public RecurrentAttention {
 public:
  KimiDelta(const KdaSettings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "kda",
                            .rule = {.decay = GateForm::column,
                                     .write = GateForm::token,
                                     .erase = GateForm::token,
                                     .unit = true,
                                     .chunk = settings.chunk},
                            .conv = settings.conv,
                            .norm = {.activation = GatedNormForm::Activation::sigmoid},
                            .gate = {.rank = settings.rank_at(site), .bias = true}},
                           site),
        strength_(site.width, site.heads, {}),
        fading_(settings, site) {}

 protected:
  TokenGates gates(const Var& x) const override {
    const Var strength = logistic(strength_.forward(x));
    return {.decay = fading_.decays(x), .write = strength, .erase = strength};
  }
  Cost gate_cost(Index tokens) const override {
    Cost cost = strength_.cost(tokens);
    cost += fading_.cost(tokens);
    cost.saved_bytes += bytes(tokens, heads());
    return cost;
  }
  void visit_gates(autograd::Inventory& inventory) override {
    inventory.enter("strength", strength_);
    fading_.visit(inventory);
  }

 private:
  InputMap strength_;
  ColumnFading fading_;
};

}  // namespace

AttentionPlan configure_kda(core::Fields& fields, const AttentionSite&) {
  return configure<KdaSettings, KimiDelta>(fields);
}

}  // namespace weft::layers
