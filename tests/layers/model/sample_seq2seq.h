#pragma once

#include "layers/model/make_model.h"
#include "layers/model/seq2seq_model.h"
#include "layers/model/terraformer.h"
#include "layers/settings/seq2seq_check.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers {

/// A small seq2seq model with drawn weights, plain or reversible.
struct SampleSeq2Seq {
  static constexpr Index vocabulary = 12, source = 9, length = 7;

  explicit SampleSeq2Seq(const ModelSettings& s, bool sparse_projection = false)
      : settings(s),
        owner(make_model(s, plans(s, sparse_projection),
                         {.vocabulary = vocabulary, .length = length, .source_length = source})),
        model(as_seq2seq_model(*owner, "test")),
        drawn(*owner) {}

  static AttentionPlans plans(const ModelSettings& s, bool sparse_projection) {
    AttentionPlans all = sample_plans(s);
    for (auto& [name, groups] : all)
      for (HeadGroupPlan& group : groups)
        if (sparse_projection) group.projection = {.kind = Density::sparse, .modules = 4};
    return all;
  }

  /// One of `real.size()` readings: sources of the given lengths and `padding` tokens behind the
  /// longest that they may have, drawn from `seed` like all that is not real.
  static Reading reading(const std::vector<Index>& real, Index padding = 0,
                         std::uint64_t seed = 0) {
    const Index batch = Index(real.size()), places = source + padding;
    std::vector<core::Token> ids;
    for (Index b = 0; b < batch; ++b)
      for (Index t = 0; t < places; ++t) {
        const bool counts = t < real[std::size_t(b)];
        const core::Rng rng = core::Rng(counts ? 5 : 100 + seed).fold(std::uint64_t(b));
        ids.push_back(core::Token(rng.below(std::uint64_t(t), vocabulary)));
      }
    const core::Tokens targets = tests::random_tokens({batch, length}, vocabulary, 2);
    std::vector<core::Token> some(targets.read().begin(), targets.read().end());
    for (std::size_t i = 3; i < some.size(); i += 5) some[i] = core::no_target;
    Reading reading{tests::random_tokens({batch, length}, vocabulary, 1),
                    core::Tokens({batch, length}, some)};
    reading.sources = core::Tokens({batch, places}, ids);
    reading.source_lengths = std::make_shared<const std::vector<Index>>(real);
    return reading;
  }

  Tensor logits(const Reading& reading) const {
    return model.logits(model.hidden(Pass(), reading).value());
  }

  /// Gradients of one training pass.
  std::vector<Real> train(const Reading& reading) {
    drawn.arena().zero_gradients();
    autograd::Tape tape;
    autograd::Journal journal;
    const Var loss = model.loss(Pass(tape, core::Rng(3), journal), reading, 1);
    tape.sweep(loss);
    return {drawn.arena().gradients().begin(), drawn.arena().gradients().end()};
  }

  ModelSettings settings;
  std::unique_ptr<Model> owner;
  const Seq2SeqModel& model;
  DrawnWeights<Model> drawn;
};

inline ModelSettings small_seq2seq(bool reversible) {
  ModelSettings settings = small_settings();
  settings.task = Task::seq2seq;
  settings.reversible = reversible;
  settings.seq2seq.encoder_layers = 1;
  return settings;
}

/// Settings, and whether projections are sparse.
struct Seq2SeqForm {
  ModelSettings settings;
  bool sparse_projection = false;
};

/// Plain and reversible models with every choice of sparse parts and of the recurrent unit.
inline std::vector<Seq2SeqForm> every_seq2seq_form() {
  std::vector<Seq2SeqForm> all;
  for (int choice = 0; choice < 32; ++choice) {
    const auto on = [&](int bit) { return (choice >> bit & 1) == 1; };
    const bool reversible = on(4);
    if (on(3) && !reversible) continue;
    ModelSettings settings = small_seq2seq(reversible);
    if (on(0)) {
      settings.feedforward = {FeedForwardKind::sparse};
      settings.sparse_ff = {.block = 3, .rank = 2, .temperature = 1, .hard = 0.5};
    }
    if (on(2)) {
      settings.output = OutputKind::sparse;
      settings.tie = false;
    }
    if (on(3)) settings.seq2seq.sru_width = 3;
    settings.positions = choice % 3 == 0 ? PositionKind::rotary : PositionKind::learned;
    all.push_back({settings, on(1)});
  }
  return all;
}

inline const char* name_of(OutputKind output) {
  return output == OutputKind::sparse ? "sparse" : "dense";
}

inline std::string describe(const Seq2SeqForm& form) {
  const ModelSettings& s = form.settings;
  return core::message_of(s.reversible ? "reversible" : "plain", ", feed-forward ",
                          s.uses(FeedForwardKind::sparse) ? "sparse" : "dense", ", projection ",
                          form.sparse_projection ? "sparse" : "dense", ", loss ", name_of(s.output),
                          ", recurrent unit ", s.seq2seq.sru_width, ", ",
                          position_name(s.positions), " positions, attention ", s.attention[0]);
}

}  // namespace weft::layers
