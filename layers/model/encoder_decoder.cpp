#include "layers/model/encoder_decoder.h"

#include <cmath>

#include "core/error.h"
#include "core/scope.h"
#include "layers/model/embed_tokens.h"
#include "layers/model/model_parts.h"

namespace weft::layers {
namespace {

/// The settings of the encoder: the same, except for depth, attention and direction.
ModelSettings encoder_of(ModelSettings settings) {
  settings.attention = settings.encoder_attention();
  settings.layers = settings.encoder_layers();
  settings.causal = false;
  return settings;
}

}  // namespace

EncoderDecoder::EncoderDecoder(const ModelSettings& settings, const AttentionPlans& plans,
                               const ModelShape& shape)
    : Seq2SeqModel(settings, shape.vocabulary),
      width_(settings.width),
      length_(shape.length),
      source_length_(shape.source_length),
      dropout_(Real(settings.dropout)),
      encoder_(encoder_of(settings), plans, shape.vocabulary, shape.source_length, false),
      positions_(make_positions(settings, shape.length)) {
  const Init in = Init::normal(initial_deviation);
  const Init out = Init::normal(initial_deviation / std::sqrt(3.0 * double(settings.layers)));
  const ResidualForm form = residual_form(settings);
  const RelativeSettings relative = settings.relative();
  AttentionSite site = settings.site(shape.length), over = settings.site(shape.source_length);
  site.shared = shared_.get();
  for (Index i = 0; i < settings.layers; ++i) {
    site.layer = over.layer = i;
    const auto& self = plans.at(settings.attention[std::size_t(i) % settings.attention.size()]);
    blocks_.emplace_back(MultiHead(self, site, in, out, positions_.rotary(), &relative),
                         CrossAttention(plans.at(settings.seq2seq.cross_attention), over, in, out),
                         make_feed_forward(settings, i, in, out), form);
  }
  if (form.place == NormPlace::pre) final_norm_.emplace(width_, form.norm);
}

Var EncoderDecoder::embed(const Pass& pass, const core::Tokens& inputs, Index first) const {
  return embed_tokens(pass, inputs, tokens(), positions_, first, dropout_);
}

Var EncoderDecoder::finish(const Pass& pass, const Var& x) const {
  const core::Scope scope("final_norm");
  return final_norm_ ? final_norm_->forward(pass.at("final_norm"), x) : x;
}

Var EncoderDecoder::hidden(const Pass& pass, const Reading& reading) const {
  source_lengths(reading);
  const Index batch = reading.inputs.shape()[0], length = reading.inputs.shape()[1];
  Var source;
  {
    const core::Scope scope("encoder");
    source = encoder_.hidden(pass.at("encoder"), reading.sources, reading.source_lengths);
  }
  const core::Scope scope("decoder");
  const Sequences own = Sequences::self(batch, length, true);
  const Sequences over{batch, length, reading.sources.shape()[1], false, reading.source_lengths};
  const Pass decoder = pass.at("decoder");
  Var x = embed(decoder, reading.inputs, 0);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const core::Scope layer("layers", Index(i));
    x = blocks_[i].forward(decoder.at(i), x, own, source, over);
  }
  return finish(decoder, x);
}

class EncoderDecoder::Decoding final : public SourceDecoder {
 public:
  Decoding(const EncoderDecoder& model, const std::vector<core::Token>& source) {
    const core::Tokens tokens({1, Index(source.size())}, source);
    const Tensor read = model.encoder_.hidden(Pass(), tokens).value();
    for (const DecoderBlock& block : model.blocks_) states_.push_back(block.begin(read));
  }

  std::unique_ptr<SourceDecoder> copy() const override {
    return std::unique_ptr<SourceDecoder>(new Decoding(*this));
  }

 private:
  Decoding(const Decoding& other) : position_(other.position_) {
    for (const DecoderBlock::State& state : other.states_) states_.push_back(state.copy());
  }

  friend class EncoderDecoder;
  std::vector<DecoderBlock::State> states_;  ///< of each layer
  Index position_ = 0;
};

std::unique_ptr<SourceDecoder> EncoderDecoder::begin(const std::vector<core::Token>& source) const {
  core::require(!source.empty(), "seq2seq model: the source is empty; give at least one token");
  return std::make_unique<Decoding>(*this, source);
}

Tensor EncoderDecoder::step_hidden(const std::vector<NextOfTarget>& tokens) const {
  std::vector<Decoding*> targets;
  for (const NextOfTarget& next : tokens) targets.push_back(static_cast<Decoding*>(next.target));
  Tensor x = stacked_rows(Index(tokens.size()), width_, [&](Index r) {
    const auto i = std::size_t(r);
    return embed(Pass(), core::Tokens({1, 1}, {tokens[i].token}), targets[i]->position_).value();
  });
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    std::vector<DecoderBlock::Row> rows;
    for (Decoding* target : targets) rows.push_back({&target->states_[layer], target->position_});
    x = blocks_[layer].step(rows, x);
  }
  for (Decoding* target : targets) ++target->position_;
  return finish(Pass(), Var(x)).value();
}

Var EncoderDecoder::with_penalties(const Pass& pass, Var loss, Real share) const {
  std::vector<Var> penalties;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    penalties.push_back(blocks_[i].penalty(pass.at("decoder").at(i)));
  return encoder_.with_penalties(pass.at("encoder"), add_penalties(loss, share, penalties), share);
}

Cost EncoderDecoder::attention_cost(Index batch) const {
  Cost total = encoder_.attention_cost(Sequences::self(batch, source_length_, false));
  const Sequences own = Sequences::self(batch, length_, true);
  const Sequences over{batch, length_, source_length_, false};
  for (const DecoderBlock& block : blocks_) total += block.cost(own, over);
  return total;
}

Index EncoderDecoder::layer_weights() const {
  Index total = encoder_.layer_weights();
  for (const DecoderBlock& block : blocks_) total += block.weights();
  return total;
}

double EncoderDecoder::rows_per_token() const {
  double rows = encoder_.weight_rows(source_length_) * double(source_length_) +
                double(output_.weights(tokens()) * length_);
  for (const DecoderBlock& block : blocks_)
    rows += double(block.weight_rows(length_, source_length_));
  return rows / double(matrix_weights() * length_);
}

void EncoderDecoder::visit(Inventory& inventory) {
  inventory.enter("encoder", encoder_);
  inventory.enter("decoder.positions", positions_);
  inventory.enter("decoder.shared", *shared_);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    inventory.enter("decoder.layers." + std::to_string(i), blocks_[i]);
  if (final_norm_) inventory.enter("decoder.final_norm", *final_norm_);
  inventory.enter("output", output_);
}

}  // namespace weft::layers
