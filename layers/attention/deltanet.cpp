// DeltaNet: a memory that replaces what a key held instead of adding to it,
//   S <- S + b k (v - S^T k)^T,  b = logistic(x W),  out = rms(S^T q / sqrt(D)),
// with queries and keys convolved and at unit length.
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"

namespace weft::layers {
namespace {

struct DeltaSettings {
  Index conv = 4;
  bool negative = false;
  Index chunk = 64;

  void fields(core::Fields& field) {
    list_conv(field, conv);
    field.flag("negative", negative,
               "lets a token erase twice what a key held, which turns it round; state tracking "
               "needs that");
    list_chunk_of(field, chunk);
  }
  AttentionTraits traits() const {
    return recurrent_traits(
        "a memory in which a value replaces what its key held (the delta rule)");
  }
};

class DeltaNet final : public RecurrentAttention {
 public:
  DeltaNet(const DeltaSettings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "deltanet",
                            .rule = {.write = GateForm::token,
                                     .erase = GateForm::token,
                                     .unit = true,
                                     .chunk = settings.chunk},
                            .conv = settings.conv,
                            .norm = {}},
                           site),
        most_(settings.negative ? 2 : 1),
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
  return configure<DeltaSettings, DeltaNet>(fields);
}

}  // namespace weft::layers
