// Models that read streams in segments and carry what earlier segments left.
#include "core/counters.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::stream_memory_contract_test {
namespace {

using tests::Settings;

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr Index length = 60, streams = 2;

/// A model of 11 tokens, its weights drawn and spans brought into their range.
struct Recurrent {
  Recurrent(const std::string& kind, const Settings& settings, ModelSettings model_settings,
            bool recompute = false)
      : model(completed(model_settings, kind), plans(kind, settings, model_settings), 11, length,
              recompute),
        drawn(model) {
    drawn.inventory().constrain();
  }

  static ModelSettings completed(ModelSettings s, const std::string& kind) {
    s.attention = {kind};
    s.segment_memory = true;
    return s;
  }
  static AttentionPlans plans(const std::string& kind, const Settings& settings,
                              const ModelSettings& model) {
    tests::GivenFields fields(settings);
    return {{kind, read_attention(fields, kind, model.site(length))}};
  }

  /// Tokens [begin, end) of both streams.
  static core::Tokens part(Index begin, Index end) {
    const core::Tokens all = tests::random_tokens({streams, length}, 11, 5);
    std::vector<core::Token> ids;
    for (Index b = 0; b < streams; ++b)
      for (Index i = begin; i < end; ++i) ids.push_back(all.read()[std::size_t(b * length + i)]);
    return {{streams, end - begin}, ids};
  }
  /// All tokens, `segment` at a time, in the order of one long segment: [B * T, W]
  Tensor by_segments(Index segment, StreamMemory& memory) const {
    Tensor all({streams * length, 8});
    for (Index begin = 0; begin < length; begin += segment) {
      const Index end = std::min(length, begin + segment);
      const Tensor h = model.hidden(Pass(), part(begin, end), &memory).value();
      for (Index b = 0; b < streams; ++b)
        std::copy_n(h.data() + b * (end - begin) * 8, (end - begin) * 8,
                    all.write().data() + (b * length + begin) * 8);
    }
    return all;
  }

  LanguageModel model;
  DrawnWeights<LanguageModel> drawn;
};

ModelSettings with_positions(PositionKind positions, NormPlace place = NormPlace::pre) {
  ModelSettings settings = small_settings();
  settings.positions = positions;
  settings.norm_place = place;
  return settings;
}

struct Form {
  std::string kind;
  Settings settings;
  ModelSettings model;
};

std::vector<Form> forms() {
  const Settings narrow{{"span", Index(9)}}, soft{{"span", Index(20)}, {"ramp", Index(6)}};
  ModelSettings reversible = with_positions(PositionKind::none);
  reversible.reversible = true;
  return {{"fixed_span", narrow, with_positions(PositionKind::none)},
          {"fixed_span", narrow, with_positions(PositionKind::xl)},
          {"fixed_span", narrow, with_positions(PositionKind::t5, NormPlace::post)},
          {"fixed_span", narrow, reversible},
          {"adaptive_span", soft, with_positions(PositionKind::none)},
          {"adaptive_span", soft, with_positions(PositionKind::shaw)},
          {"dynamic_span", soft, with_positions(PositionKind::none, NormPlace::post)},
          {"retention", {}, with_positions(PositionKind::none)},
          {"gla", {}, reversible},
          {"ssd", {}, with_positions(PositionKind::none)},
          {"gated_deltanet", {{"chunk", Index(5)}}, with_positions(PositionKind::none)},
          {"kda", {}, with_positions(PositionKind::none, NormPlace::post)},
          {"fixed_span",
           {{"span", Index(9)}, {"qk_norm", true}, {"kv_heads", Index(1)}, {"gate", "sigmoid"}},
           with_positions(PositionKind::none)},
          {"groups",
           {{"groups", std::vector<Settings>{{{"kind", "deltanet"}, {"heads", Index(1)}},
                                             {{"kind", "gla"}, {"heads", Index(1)}}}}},
           with_positions(PositionKind::none)}};
}

TEST(StreamMemory, segments_that_carry_their_past_are_one_long_segment) {
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.kind + ", " + std::string(position_name(form.model.positions)));
    const Recurrent it(form.kind, form.settings, form.model);
    const Tensor whole = it.model.hidden(Pass(), Recurrent::part(0, length)).value();
    for (const Index segment : {7, 12, 30, 60}) {
      StreamMemory memory = it.model.memory(streams);
      tests::expect_close(it.by_segments(segment, memory).read(), tests::in_double(whole.read()),
                          in_double ? 1e-11 : 1e-4);
      memory.forget();
      tests::expect_close(it.by_segments(segment, memory).read(), tests::in_double(whole.read()),
                          in_double ? 1e-11 : 1e-4);
    }
  }
}

TEST(StreamMemory, segments_without_it_stand_alone) {
  const Recurrent it("fixed_span", {{"span", Index(9)}}, with_positions(PositionKind::none));
  StreamMemory memory = it.model.memory(streams);
  it.model.hidden(Pass(), Recurrent::part(0, 12), &memory);
  const Tensor carried = it.model.hidden(Pass(), Recurrent::part(12, 24), &memory).value();
  const Tensor alone = it.model.hidden(Pass(), Recurrent::part(12, 24)).value();
  EXPECT_FALSE(tests::same_bits(carried.read(), alone.read()));
}

TEST(StreamMemory, recomputed_layers_read_the_past_that_they_read_first) {
  for (const std::string kind : {"fixed_span", "adaptive_span", "dynamic_span", "gated_deltanet"}) {
    std::vector<std::vector<Real>> gradients;
    for (const bool recompute : {false, true}) {
      Recurrent it(kind, {{"span", Index(20)}}, with_positions(PositionKind::none), recompute);
      StreamMemory memory = it.model.memory(streams);
      it.model.hidden(Pass(), Recurrent::part(0, 30), &memory);
      autograd::Tape tape;
      autograd::Journal journal;
      const core::Tokens tokens = Recurrent::part(30, 60);
      const Var loss =
          it.model.loss(Pass(tape, core::Rng(3), journal), {{tokens, tokens}, &memory}, 1);
      tape.sweep(loss);
      const auto own = it.drawn.arena().gradients();
      gradients.emplace_back(own.begin(), own.end());
    }
    EXPECT_TRUE(tests::same_bits(gradients[0], gradients[1])) << kind;
  }
}

TEST(StreamMemory, the_cost_model_counts_what_the_kernels_do_in_the_middle_of_a_stream) {
  for (const std::string kind : {"fixed_span", "adaptive_span", "gated_deltanet", "ssd"}) {
    const Recurrent it(kind, {{"span", Index(20)}, {"ramp", Index(4)}},
                       with_positions(PositionKind::none));
    StreamMemory memory = it.model.memory(streams);
    it.model.hidden(Pass(), Recurrent::part(0, length), &memory);
    const Index pairs = core::counters().scored_pairs, flops = core::counters().flops;
    it.model.hidden(Pass(), Recurrent::part(0, length), &memory);
    const Cost cost = it.model.attention_cost(streams);
    EXPECT_EQ(core::counters().scored_pairs - pairs, cost.scored_pairs);
    EXPECT_EQ(core::counters().flops - flops,
              cost.flops + 2 * streams * length * it.model.layer_weights());
  }
}

TEST(StreamMemory, keeps_as_much_as_spans_and_their_slack_need) {
  StreamMemory memory({10, 0}, {0, 0}, 1, 2);
  Tensor segment({4, 2});
  std::ranges::copy(std::vector<Real>{1, 1, 2, 2, 3, 3, 4, 4}, segment.write().begin());
  memory.append(0, segment, 3);
  tests::expect_close(memory.read(0).read(), {2, 2, 3, 3, 4, 4}, 0);
  memory.append(0, segment, 100);
  tests::expect_close(memory.read(0).read(), {2, 2, 3, 3, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4}, 0);
  memory.append(0, segment, 100);
  EXPECT_EQ(memory.read(0).shape(), (core::Shape{10, 2}));
  memory.forget();
  EXPECT_EQ(memory.read(0).size(), 0);
  EXPECT_EQ(memory.arrays().size(), 2u) << "what is held, and the layer that keeps something";
}

TEST(StreamMemory, what_it_carries_has_no_gradient_but_the_projections_learn_from_it) {
  Recurrent it("fixed_span", {{"span", Index(9)}}, with_positions(PositionKind::none));
  // The first token of a segment reads carried keys only, so its keys' projection learns from them.
  StreamMemory memory = it.model.memory(streams);
  it.model.hidden(Pass(), Recurrent::part(0, 12), &memory);
  const core::Tokens one = Recurrent::part(12, 13);
  it.drawn.arena().zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  const Var loss = it.model.loss(Pass(tape, core::Rng(3), journal), {{one, one}, &memory}, 1);
  tape.sweep(loss);
  for (const auto& s : it.drawn.arena().slots()) {
    if (s.name != "layers.0.attention.projection.weight") continue;
    const auto keys = it.drawn.arena().gradients().subspan(std::size_t(s.offset + s.size / 3),
                                                           std::size_t(s.size / 3));
    EXPECT_TRUE(std::ranges::any_of(keys, [](Real g) { return g != 0; }));
  }
}

}  // namespace
}  // namespace weft::layers::stream_memory_contract_test
