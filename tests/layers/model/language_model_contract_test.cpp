#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/naive_model.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::language_model_contract_test {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);

Tensor logits_of(const SampleModel& it, const core::Tokens& inputs) {
  return it.model.logits(it.model.hidden(Pass(), inputs).value());
}

double largest(const Tensor& x) {
  double found = 1;
  for (const Real v : x.read()) found = std::max(found, std::abs(double(v)));
  return found;
}

// every_form() with each registered attention; those without a causal form read both ways.
std::vector<ModelSettings> every_model() {
  std::vector<ModelSettings> all;
  for (const AttentionEntry& entry : attention_registry())
    for (const ModelSettings& settings : every_form())
      all.push_back(with_attention(settings, entry.kind));
  return all;
}

TEST(LanguageModel, is_the_transformer_written_out) {
  for (const ModelSettings& settings : every_form()) {
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 20);
    const core::Tokens inputs = it.tokens(3, 1);
    const Tensor logits = logits_of(it, inputs);
    const Grid expected = naive_logits(settings, it.drawn.weights(), inputs);
    for (std::size_t i = 0; i < expected.numbers.size(); ++i)
      ASSERT_NEAR(logits.read()[i], expected.numbers[i],
                  (in_double ? 1e-12 : 1e-4) * largest(logits));
  }
}

// -ln softmax(row r)[target]
double surprise(const Grid& logits, Index r, core::Token target) {
  double sum = 0;
  for (Index c = 0; c < logits.cols; ++c) sum += std::exp(logits.at(r, c) - logits.at(r, target));
  return std::log(sum);
}

TEST(LanguageModel, loses_the_mean_surprise_of_its_counted_targets) {
  for (const ModelSettings& settings : every_form()) {
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 20);
    const core::Tokens inputs = it.tokens(2, 1), targets = it.targets(2);
    const Grid logits = naive_logits(settings, it.drawn.weights(), inputs);
    double total = 0;
    Index counted = 0;
    for (Index r = 0; r < logits.rows; ++r) {
      const core::Token target = targets.read()[std::size_t(r)];
      if (target == core::no_target) continue;
      total += surprise(logits, r, target);
      ++counted;
    }
    total /= double(counted);
    const auto loss = [&](Real share) {
      return core::scalar(it.model.loss(Pass(), {inputs, targets}, share).value());
    };
    EXPECT_NEAR(loss(1), total, (in_double ? 1e-12 : 1e-4) * total);
    EXPECT_NEAR(loss(Real(0.25)), total / 4, (in_double ? 1e-12 : 1e-4) * total);
  }
}

TEST(LanguageModel, scores_each_target_in_evaluation) {
  for (const ModelSettings& settings : every_form()) {
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 300);
    const core::Tokens inputs = it.tokens(2, 1), targets = it.targets(2);
    const TokenScores scores = it.model.score(Pass(), {inputs, targets});
    const Grid logits = naive_logits(settings, it.drawn.weights(), inputs);
    ASSERT_EQ(scores.nats.size(), 600u);
    ASSERT_EQ(scores.correct.size(), 600u);
    for (Index r = 0; r < 600; ++r) {
      const auto i = std::size_t(r);
      const core::Token target = targets.read()[i];
      if (target == core::no_target) {
        EXPECT_EQ(scores.nats[i], 0);
        EXPECT_FALSE(scores.correct[i]);
        continue;
      }
      double best = logits.at(r, 0);
      for (Index c = 1; c < logits.cols; ++c) best = std::max(best, logits.at(r, c));
      ASSERT_NEAR(scores.nats[i], surprise(logits, r, target), 1e-3);
      ASSERT_EQ(scores.correct[i], logits.at(r, target) == best);
    }
  }
}

TEST(LanguageModel, decodes_what_it_computes_at_once) {
  for (const ModelSettings& settings : every_model()) {
    if (!settings.causal) continue;
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 140);
    const core::Tokens inputs = it.tokens(1, 1);
    const Tensor whole = logits_of(it, inputs);
    auto states = it.model.begin();
    for (Index t = 0; t < it.length; ++t) {
      const Tensor logits = it.model.step(states, inputs.read()[std::size_t(t)]);
      ASSERT_EQ(states.position, t + 1);
      for (std::size_t c = 0; c < std::size_t(it.vocabulary); ++c)
        ASSERT_NEAR(logits.read()[c], whole.rows(t, 1).read()[c],
                    (in_double ? 1e-10 : 1e-4) * largest(whole))
            << "token " << t;
    }
    EXPECT_GT(states.bytes(), 0);
  }
}

TEST(LanguageModel, decoding_does_the_same_products_for_every_token) {
  for (const ModelSettings& settings : every_model()) {
    SCOPED_TRACE(describe(settings));
    if (!settings.causal) continue;
    const SampleModel it(settings, 140);
    auto states = it.model.begin();
    Index first = 0;
    const auto rows = sample_plans(settings).at(settings.attention[0])[0].attention.rows;
    for (Index t = 0; t < it.length; ++t) {
      const Index before = core::counters().flops;
      it.model.step(states, core::Token(t % 11));
      // Rows that the token completes pass the layers too.
      const Index others = rows ? Index(rows->completed_by(t).size()) : 0;
      const Index flops = core::counters().flops - before - others * 2 * it.model.layer_weights();
      if (t == 0) first = flops;
      EXPECT_EQ(flops, first) << "token " << t;
    }
    // A mechanism may have products of its own, such as those of its features.
    EXPECT_GE(first, 2 * it.model.matrix_weights());
    if (settings.attention[0] == "dense") {
      EXPECT_EQ(first, 2 * it.model.matrix_weights());
    }
  }
}

TEST(LanguageModel, logits_before_a_changed_token_keep_their_bits) {
  for (const ModelSettings& settings : every_model()) {
    if (!settings.causal) continue;
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 140);
    const core::Tokens inputs = it.tokens(2, 1);
    const Tensor before = logits_of(it, inputs);
    for (const Index t : {1, 70, 129, 139}) {
      std::vector<core::Token> ids(inputs.read().begin(), inputs.read().end());
      for (Index i = 140 + t; i < 280; ++i)
        ids[std::size_t(i)] = (ids[std::size_t(i)] + 1 + core::Token(i % 9)) % 11;
      const Tensor after = logits_of(it, core::Tokens({2, 140}, ids));
      EXPECT_TRUE(same_bits(before.rows(0, 140 + t).read(), after.rows(0, 140 + t).read()));
      EXPECT_FALSE(same_bits(before.rows(140 + t, 1).read(), after.rows(140 + t, 1).read()));
    }
  }
}

TEST(LanguageModel, any_number_of_threads_gives_the_same_bits) {
  for (const ModelSettings& settings : every_model()) {
    SCOPED_TRACE(describe(settings));
    ModelSettings dropping = settings;
    dropping.dropout = 0.2;
    SampleModel it(dropping, 140);
    core::set_threads(1);
    const Real loss = it.train();
    const std::vector<Real> alone(it.drawn.arena().gradients().begin(),
                                  it.drawn.arena().gradients().end());
    for (const Index threads : {2, 3, 7}) {
      core::set_threads(threads);
      EXPECT_EQ(it.train(), loss);
      EXPECT_TRUE(same_bits(it.drawn.arena().gradients(), alone)) << threads << " threads";
    }
    core::set_threads(0);
  }
}

TEST(LanguageModel, counts_what_its_products_do) {
  for (const ModelSettings& settings : every_model()) {
    SCOPED_TRACE(describe(settings));
    const SampleModel it(settings, 140);
    const Index W = settings.width, F = settings.ff, V = it.vocabulary;
    const Index read = settings.reversible_output == StreamOutput::concat ? 2 * W : W;
    const AttentionSite site = settings.site(140);
    tests::GivenFields defaults;
    const AttentionPlan plan = find_attention(settings.attention[0])->configure(defaults, site);
    Index columns = W;
    for (const Projection& own : plan.make(site)->projections())
      columns += own.columns(site.heads, site.head_width);
    EXPECT_EQ(it.model.matrix_weights(), settings.layers * (columns * W + 2 * W * F) + V * read);
    const Cost cost = it.model.attention_cost(2);
    const Index flops = core::counters().flops, pairs = core::counters().scored_pairs;
    it.model.loss(Pass(), {it.tokens(2, 1), it.tokens(2, 2)}, 1);
    const double rows = 280 * it.model.rows_per_token();
    const Index products = std::llround(2 * rows * double(it.model.matrix_weights()));
    if (plan.traits.adaptive) {
      EXPECT_GT(core::counters().flops - flops, products);
      EXPECT_LE(core::counters().flops - flops, products + cost.flops);
      EXPECT_LE(core::counters().scored_pairs - pairs, cost.scored_pairs);
    } else {
      EXPECT_EQ(core::counters().flops - flops, products + cost.flops);
      EXPECT_EQ(core::counters().scored_pairs - pairs, cost.scored_pairs);
    }
  }
}

TEST(LanguageModel, refuses_what_it_cannot_read) {
  const SampleModel it(small_settings(), 6);
  EXPECT_EQ(it.model.longest(), 6);
  EXPECT_THROW(it.model.hidden(Pass(), core::Tokens({6}, {0, 1, 2, 3, 4, 5})), core::Error);
  EXPECT_THROW(it.model.hidden(Pass(), core::Tokens({1, 2}, {0, 11})), core::Error);
  EXPECT_THROW(it.model.hidden(Pass(), core::Tokens({1, 2}, {0, -1})), core::Error);
  EXPECT_THROW(it.model.hidden(Pass(), core::Tokens({1, 7}, {0, 1, 2, 3, 4, 5, 6})), core::Error);
  const core::Tokens row({1, 2}, {0, 1});
  for (const core::Token bad : {11, -2}) {
    EXPECT_THROW(it.model.loss(Pass(), {row, core::Tokens({1, 2}, {0, bad})}, 1), core::Error);
    EXPECT_THROW(it.model.score(Pass(), {row, core::Tokens({1, 2}, {0, bad})}), core::Error);
  }
  EXPECT_THROW(it.model.score(Pass(), {row, core::Tokens({1, 1}, {0})}), core::Error);
  auto states = it.model.begin();
  for (core::Token t = 0; t < 6; ++t) it.model.step(states, t);
  EXPECT_THROW(it.model.step(states, 0), core::Error);
}

}  // namespace
}  // namespace weft::layers::language_model_contract_test
