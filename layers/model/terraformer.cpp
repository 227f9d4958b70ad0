#include "layers/model/terraformer.h"

#include <cmath>

#include "autograd/rows_alone.h"
#include "core/error.h"
#include "core/scope.h"
#include "layers/model/embed_tokens.h"
#include "layers/model/model_parts.h"

namespace weft::layers {
namespace {

/// One of the two stacks.
struct StackPlan {
  std::vector<std::string> attention;  ///< repeated to fill the layers
  Index layers, attentions;            ///< of a layer
  AttentionSite site;
};

std::optional<RecurrentUnit> make_unit(const ModelSettings& settings, Init in, Init out) {
  const Index units = settings.seq2seq.sru_width;
  if (units == 0) return std::nullopt;
  return RecurrentUnit(settings.width, units, settings.norm, in, out);
}

ReversibleStack make_stack(const ModelSettings& settings, const AttentionPlans& plans,
                           StackPlan stack, const std::shared_ptr<const Rotary>& rotary) {
  const Index branches = stack.layers * (stack.attentions + 1);
  const Init in = Init::normal(initial_deviation);
  const Init out = Init::normal(initial_deviation / std::sqrt(double(branches)));
  const ResidualForm form = residual_form(settings);
  const RelativeSettings relative = settings.relative();
  stack.site.layers = stack.layers * stack.attentions;
  ReversibleStack streams;
  for (Index i = 0; i < stack.layers; ++i) {
    const std::string path = "layers." + std::to_string(i) + ".";
    const auto& plan = plans.at(stack.attention[std::size_t(i) % stack.attention.size()]);
    for (Index a = 0; a < stack.attentions; ++a, ++stack.site.layer)
      streams.append(path + "attention" + (stack.attentions > 1 ? std::to_string(a) : ""),
                     {streams.size()},
                     std::make_shared<AttentionBranch>(
                         MultiHead(plan, stack.site, in, out, rotary, &relative), form));
    streams.append(path + "feed_forward", {streams.size()},
                   std::make_shared<FeedForwardBranch>(make_feed_forward(settings, i, in, out),
                                                       make_unit(settings, in, out), form));
  }
  return streams;
}

AttentionSite site_of(const ModelSettings& settings, Index length, bool causal,
                      SharedTables& shared) {
  AttentionSite site = settings.site(length);
  site.causal = causal;
  site.shared = &shared;
  return site;
}

/// Each length plus `more`.
core::Lengths longer_by(const core::Lengths& lengths, Index more) {
  std::vector<Index> all(*lengths);
  for (Index& length : all) length += more;
  return std::make_shared<const std::vector<Index>>(std::move(all));
}

/// A stack whose branches all read the same sequences.
Var run_stack(const ReversibleStack& stack, const Pass& pass, const Var& first, const Var& second,
              const Sequences& sequences, StreamOutput output) {
  return stack.run(pass, first, second, std::vector(stack.size(), sequences), output);
}

/// The source's rows, then those of the target, as the decoder has read them.
struct JoinedDecoding final : SourceDecoder {
  std::unique_ptr<SourceDecoder> copy() const override {
    auto other = std::make_unique<JoinedDecoding>();
    other->states = states.copy();
    other->source = source;
    return other;
  }

  BranchStates states;
  Index source = 0;
};

}  // namespace

Terraformer::Terraformer(const ModelSettings& settings, const AttentionPlans& plans,
                         const ModelShape& shape)
    : Seq2SeqModel(settings, shape.vocabulary),
      width_(settings.width),
      length_(shape.length),
      source_length_(shape.source_length),
      dropout_(Real(settings.dropout)),
      tokens_({shape.vocabulary, settings.width}, Init::normal(initial_deviation)),
      source_positions_(make_positions(settings, shape.source_length)),
      target_positions_(make_positions(settings, shape.length)),
      encoder_(make_stack(settings, plans,
                          {settings.encoder_attention(), settings.encoder_layers(), 1,
                           site_of(settings, shape.source_length, false, *encoder_tables_)},
                          source_positions_.rotary())),
      decoder_(make_stack(
          settings, plans,
          {settings.attention, settings.layers, 2,
           site_of(settings, shape.source_length + shape.length, true, *decoder_tables_)},
          target_positions_.rotary())),
      final_norm_(settings.width, settings.norm) {}

Var Terraformer::embed(const Pass& pass, const core::Tokens& tokens, const Positions& positions,
                       Index first) const {
  return embed_tokens(pass, tokens, tokens_, positions, first, dropout_);
}

Var Terraformer::embed_source(const Pass& pass, const core::Tokens& tokens) const {
  return embed(pass.at("source"), tokens, source_positions_, 0);
}

Var Terraformer::embed_target(const Pass& pass, const core::Tokens& tokens, Index first) const {
  return embed(pass.at("target"), tokens, target_positions_, first);
}

Var Terraformer::hidden(const Pass& pass, const Reading& reading) const {
  const core::Lengths lengths = source_lengths(reading);
  const Index batch = reading.inputs.shape()[0], target = reading.inputs.shape()[1],
              source = reading.sources.shape()[1];
  Sequences sources = Sequences::self(batch, source, false);
  sources.key_lengths = reading.source_lengths;
  const Var x = embed_source(pass, reading.sources), y = embed_target(pass, reading.inputs);
  Var both;
  {
    const core::Scope scope("encoder");
    both = run_stack(encoder_, pass.at("encoder"), x, x, sources, StreamOutput::concat);
  }
  Sequences joined = Sequences::self(batch, source + target, true);
  joined.key_lengths = longer_by(lengths, target);
  const Var first = autograd::join_rows(autograd::slice(both, 0, width_), y, lengths);
  const Var second = autograd::join_rows(autograd::slice(both, width_, width_), y, lengths);
  Var mean;
  {
    const core::Scope scope("decoder");
    mean = run_stack(decoder_, pass.at("decoder"), first, second, joined, StreamOutput::average);
  }
  return finish(pass, autograd::rows_behind(mean, lengths, target));
}

Var Terraformer::finish(const Pass& pass, const Var& mean) const {
  const core::Scope scope("final_norm");
  return final_norm_.forward(pass.at("final_norm"), mean);
}

std::unique_ptr<SourceDecoder> Terraformer::begin(const std::vector<core::Token>& source) const {
  core::require(!source.empty(), "seq2seq model: the source is empty; give at least one token");
  auto target = std::make_unique<JoinedDecoding>();
  target->states = decoder_.begin();
  target->source = Index(source.size());
  const Var x = embed_source(Pass(), core::Tokens({1, target->source}, source));
  const Var both = run_stack(encoder_, Pass(), x, x, Sequences::self(1, target->source, false),
                             StreamOutput::concat);
  Tensor first = autograd::slice(both, 0, width_).value(),
         second = autograd::slice(both, width_, width_).value();
  StackRows rows;
  while (target->states.position < target->source)
    rows.push_back({&target->states, target->states.position++});
  const autograd::RowsAlone alone;
  decoder_.step(rows, 0, first, second);
  return target;
}

Tensor Terraformer::step_hidden(const std::vector<NextOfTarget>& tokens) const {
  StackRows rows;
  Tensor first = stacked_rows(Index(tokens.size()), width_, [&](Index r) {
    const auto& [target, token] = tokens[std::size_t(r)];
    auto& joined = static_cast<JoinedDecoding&>(*target);
    const Index position = joined.states.position++;
    rows.push_back({&joined.states, position});
    return embed_target(Pass(), core::Tokens({1, 1}, {token}), position - joined.source).value();
  });
  Tensor second = first;
  decoder_.step(rows, 0, first, second);
  return finish(Pass(), Var(ReversibleStack::join(first, second, StreamOutput::average))).value();
}

Var Terraformer::with_penalties(const Pass& pass, Var loss, Real share) const {
  return add_penalties(std::move(loss), share,
                       {encoder_.penalty(pass.at("encoder")), decoder_.penalty(pass.at("decoder")),
                        autograd::penalties(pass)});
}

Cost Terraformer::attention_cost(Index batch) const {
  Cost total = encoder_.cost(Sequences::self(batch, source_length_, false));
  return total += decoder_.cost(Sequences::self(batch, source_length_ + length_, true));
}

double Terraformer::rows_per_token() const {
  const Index rows = encoder_.weights() * source_length_ +
                     decoder_.weights() * (source_length_ + length_) +
                     output_.weights(tokens_) * length_;
  return double(rows) / double(matrix_weights() * length_);
}

void Terraformer::visit(Inventory& inventory) {
  inventory.add("tokens.weight", tokens_);
  inventory.enter("source_positions", source_positions_);
  inventory.enter("target_positions", target_positions_);
  inventory.enter("encoder.shared", *encoder_tables_);
  inventory.enter("encoder", encoder_);
  inventory.enter("decoder.shared", *decoder_tables_);
  inventory.enter("decoder", decoder_);
  inventory.enter("final_norm", final_norm_);
  inventory.enter("output", output_);
}

}  // namespace weft::layers
