// Retention: a sum over the past in which every head forgets at a pace of its own,
//   S <- (1 - 2^(-5 - h)) S + k v^T,  out = rms(S^T q / sqrt(D)) silu(gate).
#include <cmath>

#include "layers/attention/recurrence/attention.h"

namespace weft::layers {
namespace {

class Retention final : public RecurrentAttention {
 public:
  Retention(Index chunk, const AttentionSite& site)
      : RecurrentAttention({.kind = "retention",
                            .traits = recurrent_traits(
                                "a sum over the past that fades at a fixed pace in each head"),
                            .rule = {.decay = GateForm::head, .chunk = chunk},
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

AttentionMaker configure_retention(core::Fields& field, const AttentionSite&) {
  Index chunk = 64;
  list_chunk_of(field, chunk);
  return [chunk](const AttentionSite& site) { return std::make_unique<Retention>(chunk, site); };
}

}  // namespace weft::layers
