// Retention: a sum over the past that decays at a fixed rate in each head,
//   S <- (1 - 2^(-5 - h)) S + k v^T,  out = rms(S^T q / sqrt(D)) silu(gate).
#include <cmath>

#include "layers/attention/recurrence/attention.h"

namespace weft::layers {
namespace {

struct RetentionSettings {
  Index chunk = 64;

  void fields(core::Fields& field) { list_chunk_of(field, chunk); }
  AttentionTraits traits() const {
    return recurrent_traits("a sum over the past that decays at a fixed rate in each head", false);
  }
};

class Retention final : public RecurrentAttention {
 public:
  Retention(const RetentionSettings& settings, const AttentionSite& site)
      : RecurrentAttention({.kind = "retention",
                            .rule = {.decay = GateForm::head, .chunk = settings.chunk},
                            .rotates = true,
                            .norm = {.activation = GatedNormForm::Activation::silu}},
                           site),
        decay_({site.heads}) {
    std::span<Real> decay = decay_.write();
    for (std::size_t h = 0; h < decay.size(); ++h)
      decay[h] = Real(std::log1p(-std::exp2(-5 - double(site.first_head) - double(h))));
  }

 protected:
  TokenGates gates(const Var&) const override {
    return {.decay = decay_, .write = {}, .erase = {}};
  }
  Cost gate_cost(Index) const override { return {}; }

 private:
  Tensor decay_;  ///< [H]
};

}  // namespace

AttentionPlan configure_retention(core::Fields& fields, const AttentionSite&) {
  return configure<RetentionSettings, Retention>(fields);
}

}  // namespace weft::layers
