#pragma once

#include <span>

#include "layers/model/model.h"
#include "layers/model/trunk.h"
#include "layers/output/output_layer.h"
#include "layers/settings/recomputation.h"

namespace weft::layers {

/// A Transformer that predicts for every token which comes next, or which it is when its settings
/// are not causal: the trunk and an output layer. An untied output table starts like the token
/// table.
class LanguageModel : public Model {
 public:
  LanguageModel(const ModelSettings& settings, const AttentionPlans& plans, Index vocabulary,
                Index length, Recomputation recompute = {},
                const std::optional<core::ImageForm>& image = {});

  /// inputs: [B, T] -> [B * T, W] after the final norm, [B * T, 2 W] from concatenated streams.
  Var hidden(const Pass& pass, const core::Tokens& inputs, StreamMemory* memory = nullptr) const {
    return trunk_.hidden(pass, inputs, nullptr, memory);
  }
  Var loss(const Pass& pass, const Reading& reading, Real share) const override;
  TokenScores score(const Pass& pass, const Reading& reading) const override;
  /// h: [N, W] -> [N, V]
  Tensor logits(const Tensor& h) const { return output_.logits(h, trunk_.tokens()); }

  bool recurrent() const override { return trunk_.recurrent(); }
  StreamMemory memory(Index batch) const override { return trunk_.memory(batch); }

  BranchStates begin() const { return trunk_.begin(); }
  /// Appends a token.  -> [V], the logits of the next one
  Tensor step(BranchStates& states, core::Token token) const;
  /// Appends tokens to sequences, several to one in turn, and reads each weight once for all of
  /// them; each row has the bits that it has alone.  -> [n, V]
  Tensor step(const NextTokens& tokens) const;
  /// Appends a prompt, many tokens at a time.  -> [V], the logits of the next one
  Tensor read(BranchStates& states, std::span<const core::Token> prompt) const;

  Cost attention_cost(Index batch) const override;
  core::Traffic chunk_traffic(const core::ChunkCut& cut, Index batch, Index from,
                              Index to) const override {
    return trunk_.chunk_traffic(cut, batch, from, to);
  }
  std::vector<std::vector<double>> spans() const override { return trunk_.spans(); }
  Index layer_weights() const override { return trunk_.layer_weights(); }
  Index matrix_weights() const override;
  double rows_per_token() const override;
  Index vocabulary() const { return trunk_.tokens().shape()[0]; }
  /// The longest sequence that positions allow; nothing when they allow any.
  std::optional<Index> longest() const { return trunk_.longest(); }

  void visit(Inventory& inventory) override;

 private:
  /// `steps` as in Trunk::hidden.
  Var hidden_of(const Pass& pass, const Reading& reading,
                std::vector<float>* steps = nullptr) const;

  Trunk trunk_;
  OutputLayer output_;
  Index length_;
  Index loss_chunk_;
};

/// The model as one that predicts tokens; an error that names `what` needs it, when it is another.
const LanguageModel& as_language_model(const Model& model, const char* what);

}  // namespace weft::layers
