// Gated linear attention: a sum over the past with a decay that each token chooses for every column
// of the keys,
//   S <- diag(e^g) S + k v^T,  g = max(ln(logistic(x W1 W2 + b)) / temperature, floor),
//   out = rms(S^T q / sqrt(D)) silu(gate).
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"

namespace weft::layers {
namespace {

struct GlaSettings {
  Index rank = 16;
  double temperature = 16;
  double floor = -5;
  Index chunk = 64;

  void fields(core::Fields& field) {
    field.integer("rank", rank, "rank of the product of two matrices that computes the decays",
                  core::between(1, 65536));
    field.number("temperature", temperature,
                 "divides the decays' logarithms; larger values forget less",
                 core::between(1e-3, 1e6));
    field.number("floor", floor, "the strongest decay of a token, as a logarithm",
                 core::between(-1e4, 0));
    list_chunk_of(field, chunk);
  }
  AttentionTraits traits() const {
    return recurrent_traits(
        "a sum over the past with a decay that each token chooses column by column", false);
  }
};

class GatedLinear final : public RecurrentAttention {
 public:
  GatedLinear(const GlaSettings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "gla",
                            .rule = {.decay = GateForm::column, .chunk = settings.chunk},
                            .norm = {.activation = GatedNormForm::Activation::silu}},
                           site),
        settings_(settings),
        decay_(site.width, site.heads * site.head_width, {.rank = settings.rank, .bias = true}) {}

 protected:
  TokenGates gates(const Var& x) const override {
    return {.decay =
                log_logistic(decay_.forward(x), Real(settings_.temperature), Real(settings_.floor)),
            .write = {},
            .erase = {}};
  }
  Cost gate_cost(Index tokens) const override {
    Cost cost = decay_.cost(tokens);
    cost.saved_bytes += bytes(tokens, columns());
    return cost;
  }
  void visit_gates(autograd::Inventory& inventory) override { inventory.enter("decay", decay_); }

 private:
  GlaSettings settings_;
  InputMap decay_;
};

}  // namespace

AttentionPlan configure_gla(core::Fields& fields, const AttentionSite&) {
  return configure<GlaSettings, GatedLinear>(fields);
}

}  // namespace weft::layers
