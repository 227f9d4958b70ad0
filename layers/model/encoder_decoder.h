#pragma once

#include "layers/model/seq2seq_model.h"
#include "layers/model/trunk.h"
#include "layers/stack/decoder_block.h"

namespace weft::layers {

/// The plain encoder and decoder: a trunk reads the source in both directions; each layer of the
/// decoder reads the target so far and, by cross attention, the trunk's last hidden vectors. Both
/// sides share one token table.
class EncoderDecoder final : public Seq2SeqModel {
 public:
  EncoderDecoder(const ModelSettings& settings, const AttentionPlans& plans,
                 const ModelShape& shape);

  Var hidden(const Pass& pass, const Reading& reading) const override;
  std::unique_ptr<SourceDecoder> begin(const std::vector<core::Token>& source) const override;
  std::optional<Index> longest_source() const override { return encoder_.longest(); }
  std::optional<Index> longest() const override { return positions_.longest(); }

  Cost attention_cost(Index batch) const override;
  Index layer_weights() const override;
  double rows_per_token() const override;
  void visit(Inventory& inventory) override;

 protected:
  Tensor step_hidden(const std::vector<NextOfTarget>& tokens) const override;
  const Parameter& tokens() const override { return encoder_.tokens(); }
  Var with_penalties(const Pass& pass, Var loss, Real share) const override;

 private:
  class Decoding;
  Var embed(const Pass& pass, const core::Tokens& inputs, Index first) const;
  Var finish(const Pass& pass, const Var& x) const;

  Index width_, length_, source_length_;
  Real dropout_;
  Trunk encoder_;
  Positions positions_;
  std::unique_ptr<SharedTables> shared_ = std::make_unique<SharedTables>();
  std::vector<DecoderBlock> blocks_;
  std::optional<Norm> final_norm_;
};

}  // namespace weft::layers
