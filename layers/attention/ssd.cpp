// State-space duality (Mamba-2): a sum over the past with a decay that each token chooses. The more
// a token lets the state decay, the more it writes,
//   S <- e^(-e^A t) S + t k v^T,  t = softplus(x W_a + c),
//   out = rms((S^T q + skip v) silu(gate)) over all heads,
// with queries, keys and values convolved, and a few heads of queries and keys, shared by all
// heads.
#include "layers/attention/fittings/gates.h"
#include "layers/attention/recurrence/attention.h"
#include "layers/attention/recurrence/starts.h"

namespace weft::layers {
namespace {

struct SsdSettings {
  Index key_heads = 1;
  Index conv = 4;
  Index chunk = 64;

  void fields(core::Fields& field) {
    field.integer("key_heads", key_heads,
                  "heads of queries and keys, shared by the heads of values",
                  core::between(1, 65536));
    list_conv(field, conv);
    list_chunk_of(field, chunk);
  }
  AttentionTraits traits() const {
    AttentionTraits traits = recurrent_traits(
        "a sum over the past with a decay that each token chooses, with shared keys (Mamba-2)",
        true);
    traits.separate_keys = false;
    return traits;
  }
};

class StateSpace final : public RecurrentAttention {
 public:
  StateSpace(const SsdSettings& settings, const AttentionSite& site)
      : RecurrentAttention(
            {.kind = "ssd",
             .rule = {.decay = GateForm::token, .write = GateForm::token, .chunk = settings.chunk},
             .scale = 1,
             .key_heads = settings.key_heads,
             .conv = settings.conv,
             .conv_bias = true,
             .skips = true,
             .norm = {.activation = GatedNormForm::Activation::silu, .gate_first = true}},
            site),
        steps_(site.width, site.heads, {.bias = true, .start = start_of_steps()}),
        log_rate_({site.heads}, start_of_rates()) {}

 protected:
  TokenGates gates(const Var& x) const override {
    const Var step = softplus(steps_.forward(x));
    return {.decay = scale_heads(step, log_rate_, -1), .write = step, .erase = {}};
  }
  /// Saves: steps and decays.
  Cost gate_cost(Index tokens) const override {
    Cost cost = steps_.cost(tokens);
    cost.saved_bytes += 2 * bytes(tokens, heads());
    return cost;
  }
  void visit_gates(autograd::Inventory& inventory) override {
    inventory.enter("steps", steps_);
    inventory.add("log_rate", log_rate_);
  }

 private:
  InputMap steps_;
  autograd::Parameter log_rate_;
};

}  // namespace

AttentionPlan configure_ssd(core::Fields& fields, const AttentionSite& site) {
  SsdSettings settings;
  settings.fields(fields);
  if (site.heads % settings.key_heads != 0)
    fields.problem("key_heads", "must divide the number of heads");
  return {
      [settings](const AttentionSite& own) { return std::make_unique<StateSpace>(settings, own); },
      settings.traits()};
}

}  // namespace weft::layers
