// DeltaNet: a memory that replaces what a key held instead of adding to it,
//   S <- S + b k (v - S^T k)^T,  b = logistic(x W),  out = rms(S^T q / sqrt(D)),
// with queries and keys convolved and at unit length.
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"
#include "layers/attention/recurrence/delta_settings.h"

namespace weft::layers {
namespace {

struct DeltaNetSettings : DeltaSettings {
  AttentionTraits traits() const {
    return recurrent_traits("a memory in which a value replaces what its key held (the delta rule)",
                            true);
  }
};

class DeltaNet final : public RecurrentAttention {
 public:
  DeltaNet(const DeltaNetSettings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "deltanet",
                            .rule = {.write = GateForm::token,
                                     .erase = GateForm::token,
                                     .unit = true,
                                     .chunk = settings.chunk},
                            .conv = settings.conv,
                            .norm = {}},
                           site),
        most_(settings.most_erased()),
        strength_(site.width, site.heads, {}) {}

 protected:
  TokenGates gates(const Var& x) const override {
    const Var strength = logistic(strength_.forward(x), most_);
    return {.decay = {}, .write = strength, .erase = strength};
  }
  Cost gate_cost(Index tokens) const override {
    Cost cost = strength_.cost(tokens);
    cost.saved_bytes += bytes(tokens, heads());
    return cost;
  }
  void visit_gates(autograd::Inventory& inventory) override {
    inventory.enter("strength", strength_);
  }

 private:
  Real most_;
  InputMap strength_;
};

}  // namespace

AttentionPlan configure_deltanet(core::Fields& fields, const AttentionSite&) {
  return configure<DeltaNetSettings, DeltaNet>(fields);
}

}  // namespace weft::layers
