#pragma once

#include <optional>

#include "core/fields.h"
#include "layers/attention/contract/key_weights.h"
#include "layers/attention/contract/plan.h"
#include "layers/attention/fittings/gated_norm.h"
#include "layers/attention/fittings/input_map.h"
#include "layers/attention/fittings/short_convolution.h"
#include "layers/attention/recurrence/operation.h"

namespace weft::layers {

/// What a recurrent mechanism consists of in addition to its gates.
struct RecurrentForm {
  std::string_view kind;
  RecurrenceProblem rule = {};  ///< forms of the gates, unit and chunk; sizes come from the site
  double scale = 0;             ///< of what is read; 0 for 1 / sqrt(D)
  bool rotates = false;         ///< rotary positions turn queries and keys
  /// Heads of queries and keys that the mechanism makes itself, from the layer's input, and all
  /// heads share; 0 where each head has its own, from the layer's projections.
  Index key_heads = 0;
  Index conv = 0;  ///< taps of the short convolution; 0 for none
  bool conv_bias = false;
  bool skips = false;        ///< values pass by the state, too, times a number for each head
  GatedNormForm norm = {};   ///< of what leaves the heads; gating first, of all heads together
  InputMap::Form gate = {};  ///< what makes the norm's gate
};

/// The gates of each token, from the layer's input; empty if the rule has no such gate.
struct TokenGates {
  Var decay, write, erase;
};

/// Queries, keys and values through a short convolution, the recurrence, then norm and gate. A
/// mechanism adds what makes its gates.
class RecurrentAttention : public Attention, public SumsValues {
 public:
  RecurrentAttention(const RecurrentForm& form, const AttentionSite& site);

  std::vector<Projection> projections() const override;
  Var forward(const Pass& pass, const AttentionInput& input) const override;
  /// The values are those after the convolution.
  Var weigh(const Pass& pass, AttentionInput input, const HeadBlock& values) const override;
  bool weighs_columns() const override { return form_.rule.write == GateForm::column; }
  std::unique_ptr<DecodeState> begin() const override;
  /// The pass over one token, from the state of those before.
  void step(DecodeState& state, const StepInput& input, std::span<Real> out) const override;
  Cost cost(const Sequences& sequences) const override;
  /// The states of all heads and the last rows under the convolution.
  Index carried_numbers() const override;
  void visit(autograd::Inventory& inventory) override;

 protected:
  virtual TokenGates gates(const Var& x) const = 0;
  virtual Cost gate_cost(Index tokens) const = 0;
  virtual void visit_gates(autograd::Inventory&) {}

  /// Bytes of an array with this many columns for each token.
  static Index bytes(Index tokens, Index columns) { return tokens * columns * Index(sizeof(Real)); }

  Index heads() const { return form_.rule.heads; }
  Index columns() const { return form_.rule.heads * form_.rule.width; }

 private:
  RecurrenceProblem rule(const Sequences& sequences) const;
  Index key_columns() const { return form_.rule.key_heads * form_.rule.width; }
  /// Queries, keys and values, from those that the layer projected.
  std::vector<HeadBlock> blocks(const std::vector<HeadBlock>& projected, const Var& x) const;
  /// What the state gives to each query, and the skipped values.
  Var sum(const std::vector<HeadBlock>& blocks, const Var& x, const Sequences& sequences,
          const Var& initial, Tensor* final) const;
  Var mix(const std::vector<HeadBlock>& blocks, const Var& x, const Sequences& sequences,
          const Var& initial, Tensor* final) const;
  bool gated() const { return form_.norm.activation != GatedNormForm::Activation::none; }

  RecurrentForm form_;
  std::optional<InputMap> keys_;  ///< queries and keys that all heads share
  std::optional<ShortConvolution> conv_;
  std::optional<InputMap> gate_;
  std::optional<autograd::Parameter> skip_;
  autograd::Parameter gain_;
};

/// The traits that all of them share, except for the summary and whether they convolve.
AttentionTraits recurrent_traits(std::string_view summary, bool convolves);

/// Lists settings that several of them have.
void list_chunk_of(core::Fields& field, Index& chunk);

}  // namespace weft::layers
