// Language models of sparse parts only, around every registered attention.
#include "core/counters.h"
#include "core/error.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::sparse_model_contract_test {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);

ModelSettings sparse_settings(const std::string& kind, bool reversible) {
  ModelSettings settings = small_settings();
  settings.feedforward = {FeedForwardKind::sparse};
  settings.sparse_ff = {.block = 3, .rank = 2, .temperature = 1, .hard = 0.5};
  settings.output = OutputKind::sparse;
  settings.output_modules = reversible ? 11 : 1;
  settings.tie = false;
  settings.positions = PositionKind::rotary;
  settings.reversible = reversible;
  settings.attention = {kind};
  return settings;
}

AttentionPlans sparse_plans(const ModelSettings& settings) {
  AttentionPlans plans = sample_plans(settings);
  for (auto& [name, groups] : plans)
    for (HeadGroupPlan& group : groups) group.projection = {.kind = Density::sparse, .modules = 4};
  return plans;
}

struct SparseModel : SampleModel {
  SparseModel(const ModelSettings& s, Index longest, bool recompute = false)
      : SampleModel(s, sparse_plans(s), longest, recompute) {}
};

std::vector<ModelSettings> every_sparse_model() {
  std::vector<ModelSettings> all;
  for (const AttentionEntry& entry : attention_registry())
    for (const bool reversible : {false, true}) {
      if (!has_equal_projections(entry.kind)) continue;
      const ModelSettings settings = sparse_settings(std::string(entry.kind), reversible);
      const bool rows =
          sample_plans(settings).at(settings.attention[0])[0].attention.rows != nullptr;
      if (!rows && with_attention(settings, entry.kind).causal) all.push_back(settings);
    }
  return all;
}

Tensor logits_of(const SampleModel& it, const core::Tokens& inputs) {
  return it.model.logits(it.model.hidden(Pass(), inputs).value());
}

TEST(SparseModel, decodes_what_it_computes_at_once) {
  for (const ModelSettings& settings : every_sparse_model()) {
    SCOPED_TRACE(describe(settings));
    const SparseModel it(settings, 70);
    const core::Tokens inputs = it.tokens(1, 1);
    const Tensor whole = logits_of(it, inputs);
    auto states = it.model.begin();
    for (Index t = 0; t < it.length; ++t)
      tests::expect_close(it.model.step(states, inputs.read()[std::size_t(t)]).read(),
                          tests::in_double(whole.rows(t, 1).read()), in_double ? 1e-9 : 1e-3);
    EXPECT_GT(states.bytes(), 0);
  }
}

TEST(SparseModel, logits_before_a_changed_token_keep_their_bits) {
  for (const ModelSettings& settings : every_sparse_model()) {
    SCOPED_TRACE(describe(settings));
    const SparseModel it(settings, 70);
    const core::Tokens inputs = it.tokens(2, 1);
    const Tensor before = logits_of(it, inputs);
    for (const Index t : {1, 35, 69}) {
      std::vector<core::Token> ids(inputs.read().begin(), inputs.read().end());
      for (Index i = 70 + t; i < 140; ++i)
        ids[std::size_t(i)] = (ids[std::size_t(i)] + 1 + core::Token(i % 9)) % 11;
      const Tensor after = logits_of(it, core::Tokens({2, 70}, ids));
      EXPECT_TRUE(same_bits(before.rows(0, 70 + t).read(), after.rows(0, 70 + t).read()));
      EXPECT_FALSE(same_bits(before.rows(70 + t, 1).read(), after.rows(70 + t, 1).read()));
    }
  }
}

TEST(SparseModel, any_number_of_threads_and_recomputing_give_the_same_bits) {
  for (const ModelSettings& settings : every_sparse_model()) {
    SCOPED_TRACE(describe(settings));
    SparseModel it(settings, 70), again(settings, 70, !settings.reversible);
    expect_training_bits_on_any_threads(it, again);
  }
}

TEST(SparseModel, passes_gradients_when_units_are_weighed) {
  for (const std::string kind : {"dense", "local"})
    for (const bool reversible : {false, true}) {
      ModelSettings settings = sparse_settings(kind, reversible);
      settings.sparse_ff.hard = 0;
      settings.ff_chunk = reversible ? 5 : 0;
      SCOPED_TRACE(describe(settings));
      SparseModel it(settings, 7);  // few units, none of them close to the relu's corner
      tests::check_gradient(
          "loss",
          [&](const Pass& pass, const std::vector<Var>&) {
            return it.model.loss(pass, {it.tokens(2, 1), it.targets(2)}, 1);
          },
          {}, it.drawn.arena());
    }
}

TEST(SparseModel, reads_at_decoding_no_more_weights_than_its_formula) {
  ModelSettings settings = sparse_settings("dense", false);
  const SparseModel it(settings, 9);
  auto states = it.model.begin();
  const Index W = 8, F = 12, N = 3, r = 2, S = 4, M = 2, taps = 3, V = 11;
  const Index feed = W * r + r * F + W * F / N;  // and as much again where a relu passes
  const Index attention = W * (S + M) + (3 + 3 + 1) * taps * M * M;
  const Index output = W * (1 + V);
  for (core::Token t = 0; t < 9; ++t) {
    const Index before = core::counters().weight_bytes;
    it.model.step(states, t);
    const Index read = (core::counters().weight_bytes - before) / Index(sizeof(Real));
    EXPECT_GE(read, settings.layers * (feed + attention) + output);
    EXPECT_LE(read, settings.layers * (feed + W * F / N + attention) + output);
  }
}

TEST(SparseModel, refuses_modules_that_do_not_divide) {
  ModelSettings settings = sparse_settings("dense", false);
  settings.output_modules = 4;
  EXPECT_THROW(SparseModel(settings, 9), core::Error);
  tests::GivenFields fields({{"projection", std::string("sparse")}, {"modules", Index(3)}});
  read_attention(fields, "dense", settings.site(9));
  EXPECT_TRUE(fields.problems().contains("modules"));
  tests::GivenFields tied({{"output", std::string("sparse")}});
  ModelSettings().fields(tied);
  EXPECT_TRUE(tied.problems().contains("tie"));
}

}  // namespace
}  // namespace weft::layers::sparse_model_contract_test
