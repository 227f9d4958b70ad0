#pragma once

#include <string>
#include <vector>

#include "core/parallel.h"
#include "layers/attention/registry.h"
#include "layers/model/language_model.h"
#include "layers/settings/default_plans.h"
#include "tests/closeness.h"
#include "tests/layers/drawn_weights.h"
#include "tests/random_values.h"

namespace weft::layers {

/// Mechanisms with defaults that suit long sequences, also where a test's own are short.
inline AttentionPlans sample_plans(const ModelSettings& settings) {
  return default_plans(settings, 1024);
}

/// Whether sparse projections, which all have one width, suit a kind.
inline bool has_equal_projections(const std::string& kind) {
  ModelSettings settings;
  settings.attention = {kind};
  const AttentionSite site = settings.site(64);
  for (const Projection& own :
       sample_plans(settings).at(kind)[0].attention.make(site)->projections())
    if (own.heads > 0) return false;
  return true;
}

/// A language model of 11 tokens with drawn weights.
struct SampleModel {
  static constexpr Index vocabulary = 11;

  SampleModel(const ModelSettings& s, Index longest, bool recompute = false)
      : SampleModel(s, sample_plans(s), longest, recompute) {}
  SampleModel(const ModelSettings& s, const AttentionPlans& plans, Index longest, bool recompute)
      : settings(s),
        length(longest),
        model(s, plans, vocabulary, longest, recompute),
        drawn(model) {}

  core::Tokens tokens(Index batch, std::uint64_t seed) const {
    return tests::random_tokens({batch, length}, vocabulary, seed);
  }

  /// Targets for tokens(batch, ...), of which every seventh from the third on is not counted.
  core::Tokens targets(Index batch) const {
    const core::Tokens drawn_ids = tokens(batch, 2);
    std::vector<core::Token> ids(drawn_ids.read().begin(), drawn_ids.read().end());
    for (std::size_t i = 3; i < ids.size(); i += 7) ids[i] = core::no_target;
    return {drawn_ids.shape(), ids};
  }

  /// Loss and gradients of one training pass.
  Real train(std::uint64_t seed = 1) {
    drawn.arena().zero_gradients();
    autograd::Tape tape;
    autograd::Journal journal;
    const Var loss =
        model.loss(Pass(tape, core::Rng(3), journal), {tokens(2, seed), targets(2)}, 1);
    tape.sweep(loss);
    return core::scalar(loss.value());
  }

  ModelSettings settings;
  Index length;
  LanguageModel model;
  DrawnWeights<LanguageModel> drawn;
};

/// Loss and gradients of a training pass have the same bits on one, three and all threads, the last
/// in `again`, another model of the same settings.
inline void expect_training_bits_on_any_threads(SampleModel& it, SampleModel& again) {
  core::set_threads(1);
  const Real loss = it.train();
  const std::vector<Real> alone(it.drawn.arena().gradients().begin(),
                                it.drawn.arena().gradients().end());
  core::set_threads(3);
  EXPECT_EQ(it.train(), loss);
  EXPECT_TRUE(tests::same_bits(it.drawn.arena().gradients(), alone));
  core::set_threads(0);
  EXPECT_EQ(again.train(), loss);
  EXPECT_TRUE(tests::same_bits(again.drawn.arena().gradients(), alone));
}

inline ModelSettings small_settings() {
  ModelSettings settings;
  settings.layers = 2;
  settings.width = 8;
  settings.heads = 2;
  settings.ff = 12;
  return settings;
}

/// Every kind of positions, place of the norm and form of the output layer; reversible stacks; rms
/// norms with a feed-forward and a loss by pieces.
inline std::vector<ModelSettings> every_form() {
  std::vector<ModelSettings> all;
  for (const PositionKind positions :
       {PositionKind::learned, PositionKind::sinusoidal, PositionKind::rotary, PositionKind::none})
    for (const NormPlace place : {NormPlace::pre, NormPlace::post})
      for (const bool tie : {true, false}) {
        ModelSettings settings = small_settings();
        settings.positions = positions;
        settings.norm_place = place;
        settings.tie = tie;
        all.push_back(settings);
      }
  for (const StreamOutput output : {StreamOutput::average, StreamOutput::concat}) {
    ModelSettings settings = small_settings();
    settings.reversible = true;
    settings.reversible_output = output;
    settings.tie = output == StreamOutput::average;
    all.push_back(settings);
  }
  ModelSettings other = small_settings();
  other.norm = NormKind::rms;
  other.positions = PositionKind::axial;
  other.ff_chunk = 50;
  other.loss_chunk = 30;
  all.push_back(other);
  other.reversible = true;
  all.push_back(other);
  return all;
}

/// The settings with another attention, causal where that has a causal form.
inline ModelSettings with_attention(ModelSettings settings, std::string_view kind) {
  settings.attention = {std::string(kind)};
  settings.causal = true;
  const AttentionPlans plans = sample_plans(settings);
  const std::string unfit = why_unfit(plans.at(settings.attention[0]), settings.site(1));
  settings.causal = unfit.empty();
  return settings;
}

inline std::string describe(const ModelSettings& s) {
  return s.attention[0] + " attention, " + std::string(position_name(s.positions)) +
         " positions, " + (s.norm_place == NormPlace::pre ? "pre" : "post") + "-norm" +
         (s.norm == NormKind::rms ? " (rms)" : "") + (s.tie ? ", tied" : "") +
         (s.reversible ? ", reversible" : "") +
         (s.reversible_output == StreamOutput::concat ? ": both streams" : "") +
         (s.universal.chosen() ? ", " + std::to_string(s.universal.steps) + " steps" : "") +
         (s.universal.halts() ? " at most" : "");
}

}  // namespace weft::layers
