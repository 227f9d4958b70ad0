// Gated DeltaNet 2: a delta rule in which each token chooses, column by column, what it erases,
// what it writes and how the memory decays,
//   S~ = diag(e^g) S,  S <- S~ + k (b' v - S~^T (b k))^T,
//   b = logistic(x W_b),  b' = logistic(x W_w), both by column,  g as in kda,
//   out = rms(S^T q / sqrt(D)) logistic(gate), the gate by two matrices and a bias,
// with queries and keys convolved and at unit length.
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"
#include "layers/attention/recurrence/column_fading.h"

namespace weft::layers {
namespace {

struct Gdn2Settings : ColumnFadingSettings {
  AttentionTraits traits() const {
    return recurrent_traits(
        "a memory in which tokens choose erasing, writing and decay column by column", true);
  }
};

class GatedDelta2 final : public RecurrentAttention {
 public:
  GatedDelta2(const Gdn2Settings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "gdn2",
                            .rule = {.decay = GateForm::column,
                                     .write = GateForm::column,
                                     .erase = GateForm::column,
                                     .unit = true,
                                     .chunk = settings.chunk},
                            .conv = settings.conv,
                            .norm = {.activation = GatedNormForm::Activation::sigmoid},
                            .gate = {.rank = settings.rank_at(site), .bias = true}},
                           site),
        erasing_(site.width, site.heads * site.head_width, {}),
        writing_(site.width, site.heads * site.head_width, {}),
        fading_(settings, site) {}

 protected:
  TokenGates gates(const Var& x) const override {
    return {.decay = fading_.decays(x),
            .write = logistic(writing_.forward(x)),
            .erase = logistic(erasing_.forward(x))};
  }
  Cost gate_cost(Index tokens) const override {
    Cost cost = erasing_.cost(tokens);
    cost += writing_.cost(tokens);
    cost += fading_.cost(tokens);
    cost.saved_bytes += 2 * bytes(tokens, columns());
    return cost;
  }
  void visit_gates(autograd::Inventory& inventory) override {
    inventory.enter("erasing", erasing_);
    inventory.enter("writing", writing_);
    fading_.visit(inventory);
  }

 private:
  InputMap erasing_, writing_;
  ColumnFading fading_;
};

}  // namespace

AttentionPlan configure_gdn2(core::Fields& fields, const AttentionSite&) {
  return configure<Gdn2Settings, GatedDelta2>(fields);
}

}  // namespace weft::layers
