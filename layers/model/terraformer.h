#pragma once

#include "layers/attention/contract/shared_tables.h"
#include "layers/model/seq2seq_model.h"
#include "layers/parts/positions.h"
#include "layers/stack/reversible_stack.h"

namespace weft::layers {

/// A reversible encoder and a reversible decoder without cross attention. The encoder reads the
/// source in both directions; the target's tokens are written directly after the last real row of
/// their source in both of its streams, and the decoder's causal attention runs over the joined
/// sequence. Padding comes after everything that is read.
///   encoder layer: attention, feed-forward      decoder layer: attention, attention, feed-forward
/// The output layer reads the normalised mean of the streams at the target's rows. Activations do
/// not grow with depth.
class Terraformer final : public Seq2SeqModel {
 public:
  Terraformer(const ModelSettings& settings, const AttentionPlans& plans, const ModelShape& shape);

  Var hidden(const Pass& pass, const Reading& reading) const override;
  std::unique_ptr<SourceDecoder> begin(const std::vector<core::Token>& source) const override;
  std::optional<Index> longest_source() const override { return source_positions_.longest(); }
  std::optional<Index> longest() const override { return target_positions_.longest(); }

  /// Tokens of sources or targets at positions first, first + 1, ...: [B, T] -> [B * T, W]
  Var embed_source(const Pass& pass, const core::Tokens& tokens) const;
  Var embed_target(const Pass& pass, const core::Tokens& tokens, Index first = 0) const;
  const ReversibleStack& encoder() const { return encoder_; }
  const ReversibleStack& decoder() const { return decoder_; }
  /// Streams' means to what the output layer reads.
  Var finish(const Pass& pass, const Var& mean) const;

  Cost attention_cost(Index batch) const override;
  Index layer_weights() const override { return encoder_.weights() + decoder_.weights(); }
  double rows_per_token() const override;
  void visit(Inventory& inventory) override;

 protected:
  Tensor step_hidden(const std::vector<NextOfTarget>& tokens) const override;
  const Parameter& tokens() const override { return tokens_; }
  Var with_penalties(const Pass& pass, Var loss, Real share) const override;

 private:
  Var embed(const Pass& pass, const core::Tokens& tokens, const Positions& positions,
            Index first) const;

  Index width_, length_, source_length_;
  Real dropout_;
  Parameter tokens_;
  Positions source_positions_, target_positions_;
  std::unique_ptr<SharedTables> encoder_tables_ = std::make_unique<SharedTables>();
  std::unique_ptr<SharedTables> decoder_tables_ = std::make_unique<SharedTables>();
  ReversibleStack encoder_, decoder_;
  Norm final_norm_;
};

}  // namespace weft::layers
