// Language models whose feed-forwards are experts or memories, in plain and reversible stacks.
#include "core/counters.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::conditional_model_contract_test {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);

ModelSettings experts(Index choices, double capacity = 0) {
  ModelSettings settings = small_settings();
  settings.feedforward = {FeedForwardKind::experts};
  settings.experts = {.experts = 4, .choices = choices, .capacity = capacity};
  return settings;
}

using QueryNorm = MemorySettings::QueryNorm;

ModelSettings memory(QueryNorm norm) {
  ModelSettings settings = small_settings();
  settings.feedforward = {FeedForwardKind::memory};
  settings.memory = {.keys = 5, .heads = 2, .top = 4, .query = 6, .norm = norm};
  return settings;
}

std::vector<ModelSettings> every_conditional_model() {
  std::vector<ModelSettings> all;
  for (ModelSettings settings :
       {experts(1), experts(2), experts(1, 0.7), memory(QueryNorm::layer), memory(QueryNorm::none)})
    for (const bool reversible : {false, true}) {
      settings.reversible = reversible;
      all.push_back(settings);
    }
  return all;
}

std::string name_of(const ModelSettings& s) {
  return std::string(s.uses(FeedForwardKind::experts) ? "experts" : "memory") + ", " +
         std::to_string(s.experts.choices) + " choices, capacity " +
         std::to_string(s.experts.capacity) +
         (s.memory.norm == QueryNorm::none ? ", queries as they are, " : ", norm by layers, ") +
         describe(s);
}

Tensor logits_of(const SampleModel& it, const core::Tokens& inputs) {
  return it.model.logits(it.model.hidden(Pass(), inputs).value());
}

TEST(ConditionalModel, decodes_what_it_computes_at_once) {
  for (const ModelSettings& settings : every_conditional_model()) {
    if (settings.experts.capacity > 0) continue;  // a token alone finds every expert empty
    SCOPED_TRACE(name_of(settings));
    const SampleModel it(settings, 40);
    const core::Tokens inputs = it.tokens(1, 1);
    const Tensor whole = logits_of(it, inputs);
    auto states = it.model.begin();
    for (Index t = 0; t < it.length; ++t)
      tests::expect_close(it.model.step(states, inputs.read()[std::size_t(t)]).read(),
                          tests::in_double(whole.rows(t, 1).read()), in_double ? 1e-9 : 1e-3);
  }
}

TEST(ConditionalModel, logits_before_a_changed_token_keep_their_bits) {
  for (const ModelSettings& settings : every_conditional_model()) {
    SCOPED_TRACE(name_of(settings));
    const SampleModel it(settings, 70);
    const core::Tokens inputs = it.tokens(2, 1);
    const Tensor before = logits_of(it, inputs);
    for (const Index t : {1, 35, 69}) {
      std::vector<core::Token> ids(inputs.read().begin(), inputs.read().end());
      for (Index b = 0; b < 2; ++b)
        for (Index i = 70 * b + t; i < 70 * (b + 1); ++i)
          ids[std::size_t(i)] = (ids[std::size_t(i)] + 1 + core::Token(i % 9)) % 11;
      const Tensor after = logits_of(it, core::Tokens({2, 70}, ids));
      for (Index b = 0; b < 2; ++b)
        EXPECT_TRUE(same_bits(before.rows(70 * b, t).read(), after.rows(70 * b, t).read()));
      EXPECT_FALSE(same_bits(before.rows(70 + t, 1).read(), after.rows(70 + t, 1).read()));
    }
  }
}

TEST(ConditionalModel, any_number_of_threads_and_recomputing_give_the_same_bits) {
  for (const ModelSettings& settings : every_conditional_model()) {
    SCOPED_TRACE(name_of(settings));
    SampleModel it(settings, 70), again(settings, 70, !settings.reversible);
    expect_training_bits_on_any_threads(it, again);
  }
}

TEST(ConditionalModel, passes_gradients_with_what_uneven_use_costs) {
  for (ModelSettings settings : every_conditional_model()) {
    settings.experts.balance = 0.5;
    SCOPED_TRACE(name_of(settings));
    SampleModel it(settings, 7);
    tests::check_gradient(
        "loss",
        [&](const Pass& pass, const std::vector<Var>&) {
          return it.model.loss(pass, {it.tokens(2, 1), it.targets(2)}, 1);
        },
        {}, it.drawn.arena());
  }
}

TEST(ConditionalModel, decoding_reads_what_the_model_says_it_multiplies) {
  for (const ModelSettings& settings : every_conditional_model()) {
    SCOPED_TRACE(name_of(settings));
    const SampleModel it(settings, 9);
    auto states = it.model.begin();
    const Index W = 8, F = 12, E = 4, k = settings.experts.choices;
    const Index feed = settings.uses(FeedForwardKind::experts) ? W * E + k * 2 * W * F
                                                               : W * 2 * 6 + 2 * 5 * 6 + 2 * 4 * W;
    EXPECT_EQ(it.model.layer_weights(), settings.layers * (4 * W * W + feed));
    for (core::Token t = 0; t < 5; ++t) {
      const Index before = core::counters().weight_bytes;
      it.model.step(states, t);
      EXPECT_EQ((core::counters().weight_bytes - before) / Index(sizeof(Real)),
                it.model.matrix_weights());
    }
  }
}

TEST(ConditionalModel, reports_the_use_of_every_layer) {
  for (const auto& [settings, name] :
       {std::pair(experts(1), "layers.1.feed_forward.use.largest_expert"),
        std::pair(memory(QueryNorm::layer), "layers.1.feed_forward.use.slots_hit")}) {
    SampleModel it(settings, 9);
    Inventory inventory;
    it.model.visit(inventory);
    EXPECT_TRUE(inventory.metrics().empty());
    autograd::Tape tape;
    autograd::Journal journal;
    it.model.loss(Pass(tape, core::Rng(3), journal), {it.tokens(2, 1), it.targets(2)}, 1);
    journal.commit();
    EXPECT_TRUE(std::ranges::any_of(
        inventory.metrics(), [&](const autograd::Metric& metric) { return metric.name == name; }));
  }
}

TEST(ConditionalModel, refuses_pieces_and_statistics_that_read_the_future) {
  const auto problems = [](const tests::Settings& given) {
    tests::GivenFields fields(given);
    ModelSettings().fields(fields);
    return fields.problems();
  };
  using Text = std::string;
  using Texts = std::vector<std::string>;
  EXPECT_TRUE(
      problems({{"feedforward", Texts{"experts"}}, {"ff_chunk", Index(8)}}).contains("ff_chunk"));
  EXPECT_TRUE(
      problems({{"feedforward", Texts{"memory"}}, {"ff_chunk", Index(8)}}).contains("ff_chunk"));
  EXPECT_TRUE(problems({{"feedforward", Texts{"memory"}}, {"memory_norm", Text("batch")}})
                  .contains("memory_norm"));
  EXPECT_TRUE(problems({{"feedforward", Texts{"memory"}},
                        {"memory_norm", Text("batch")},
                        {"allow_leaky_norm", true}})
                  .empty());
}

}  // namespace
}  // namespace weft::layers::conditional_model_contract_test
