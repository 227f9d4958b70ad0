#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "layers/model/span_model.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_model.h"

namespace weft::layers::span_model_contract_test {
namespace {

constexpr Index vocabulary = 11;

ModelSettings answering(Index longest = 30) {
  ModelSettings settings = small_settings();
  settings.task = Task::span;
  settings.causal = false;
  settings.answer_longest = longest;
  return settings;
}

struct SampleSpans {
  SampleSpans(const ModelSettings& settings, Index length)
      : model(settings, default_plans(settings, length), {vocabulary, length}), drawn(model) {}
  SpanModel model;
  DrawnWeights<SpanModel> drawn;
};

/// Sequences whose documents begin at 3 and end where the real tokens end.
Reading asked(const std::vector<Index>& real, Index length, std::uint64_t padding) {
  const auto batch = Index(real.size());
  std::vector<core::Token> ids, documents, answers;
  for (std::size_t row = 0; row < real.size(); ++row) {
    for (Index t = 0; t < length; ++t) {
      const core::Rng from(t < real[row] ? 1 : padding);
      ids.push_back(core::Token(from.fold(row).below(std::uint64_t(t), vocabulary)));
    }
    documents.insert(documents.end(), {3, core::Token(real[row] - 1)});
    answers.insert(answers.end(), {3, core::Token(real[row] - 1), 0, 0});
  }
  Reading reading{core::Tokens({batch, length}, ids)};
  reading.targets = core::Tokens({batch, 2, 2}, answers);
  reading.documents = core::Tokens({batch, 2}, documents);
  reading.lengths = std::make_shared<const std::vector<Index>>(real);
  return reading;
}

/// Every span of one row, tried one by one.
SpanChoice naive_choice(const Grid& logits, Index begin, Index first, Index last, Index longest) {
  SpanChoice best{0, 0, -1e300};
  double starts = std::exp(logits.at(begin, 0)), ends = std::exp(logits.at(begin, 1));
  for (Index t = first; t <= last; ++t) {
    starts += std::exp(logits.at(begin + t, 0));
    ends += std::exp(logits.at(begin + t, 1));
  }
  const auto log_of = [&](Index s, Index e) {
    return logits.at(begin + s, 0) + logits.at(begin + e, 1) - std::log(starts) - std::log(ends);
  };
  for (Index s = first; s <= last; ++s)
    for (Index e = s; e <= last && e - s < longest; ++e)
      if (log_of(s, e) > best.score) best = {s, e, log_of(s, e)};
  best.none = log_of(0, 0);
  return best;
}

TEST(SpanModel, chooses_the_best_of_all_spans_that_are_short_enough) {
  constexpr Index length = 17;
  const std::vector<Index> real = {17, 9, 4, 12};
  for (const Index longest : {1, 2, 5, 30}) {
    const SampleSpans it(answering(longest), length);
    const Reading reading = asked(real, length, 5);
    Trunk trunk(answering(), default_plans(answering(), length), vocabulary, length, false);
    const DrawnWeights<Trunk> drawn(trunk);  // the model's first parameters
    const Grid h(trunk.hidden(Pass(), reading.inputs, reading.lengths).value());
    const Grid weight = it.drawn.weights().at("head.weight");
    Grid logits(h.rows, 2);
    for (Index r = 0; r < h.rows; ++r)
      for (Index c = 0; c < 2; ++c)
        for (Index i = 0; i < h.cols; ++i) logits.at(r, c) += h.at(r, i) * weight.at(c, i);
    const auto choices = it.model.choose(Pass(), reading);
    ASSERT_EQ(choices.size(), real.size());
    for (std::size_t row = 0; row < real.size(); ++row) {
      const SpanChoice expected =
          naive_choice(logits, Index(row) * length, 3, real[row] - 1, longest);
      EXPECT_EQ(choices[row].start, expected.start);
      EXPECT_EQ(choices[row].end, expected.end);
      EXPECT_NEAR(choices[row].score, expected.score, 1e-4);
      EXPECT_NEAR(choices[row].none, expected.none, 1e-4);
    }
  }
}

TEST(SpanModel, does_not_depend_on_padding) {
  const SampleSpans it(answering(), 30);
  const std::vector<Index> real = {20, 8};
  const auto one = it.model.choose(Pass(), asked(real, 30, 5));
  const auto other = it.model.choose(Pass(), asked(real, 30, 6));
  for (std::size_t row = 0; row < real.size(); ++row) {
    EXPECT_EQ(one[row].start, other[row].start);
    EXPECT_EQ(one[row].end, other[row].end);
    EXPECT_EQ(one[row].score, other[row].score);
    EXPECT_EQ(one[row].nats, other[row].nats);
  }
}

TEST(SpanModel, the_loss_is_the_mean_over_sequences_with_answers) {
  const SampleSpans it(answering(), 20);
  Reading reading = asked({20, 8, 11}, 20, 5);
  std::vector<core::Token> answers(reading.targets.read().begin(), reading.targets.read().end());
  std::fill_n(answers.begin() + 4, 4, core::no_target);  // those of the second row
  reading.targets = core::Tokens({3, 2, 2}, answers);
  const TokenScores scores = it.model.score(Pass(), reading);
  EXPECT_EQ(scores.nats[1], 0);
  EXPECT_NEAR(double(core::scalar(it.model.loss(Pass(), reading, Real(0.5)).value())),
              0.5 * double(scores.nats[0] + scores.nats[2]) / 2, 1e-5);
  for (core::Token& token : answers) token = core::no_target;
  reading.targets = core::Tokens({3, 2, 2}, answers);
  EXPECT_THROW(it.model.loss(Pass(), reading, 1), core::Error);
}

TEST(SpanModel, every_token_reads_a_question_that_is_global) {
  ModelSettings settings = answering();
  settings.layers = 1;
  settings.attention = {"etc"};
  settings.positions = PositionKind::none;
  const Index length = 20;
  const auto scores = [&](bool global, core::Token asked_for) {
    tests::GivenFields given(
        {{"window", Index(1)}, {"every", Index(4)}, {"question_global", global}});
    AttentionPlans plans;
    plans["etc"] = read_attention(given, "etc", settings.site(length));
    SpanModel model(settings, plans, {vocabulary, length});
    const DrawnWeights<SpanModel> drawn(model);
    Reading reading = asked({length, 12}, length, 5);
    std::vector<core::Token> ids(reading.inputs.read().begin(), reading.inputs.read().end());
    ids[0] = ids[length] = 1;
    ids[1] = asked_for;
    ids[2] = ids[length + 2] = 2;
    reading.inputs = core::Tokens({2, length}, ids);
    std::vector<double> nats;
    for (const SpanChoice& choice : model.choose(Pass(), reading)) nats.push_back(choice.score);
    return nats;
  };
  const auto one = scores(true, 4), other = scores(true, 9);
  EXPECT_NE(one[0], other[0]);
  EXPECT_EQ(one[1], other[1]) << "the question of another sequence";
  EXPECT_EQ(scores(false, 4), scores(false, 9)) << "one layer of windows cannot know it";
}

TEST(SpanModel, gradients_are_the_same_at_any_number_of_threads) {
  const Reading reading = asked({40, 17, 33, 9}, 40, 5);
  std::vector<std::vector<Real>> all;
  for (const int threads : {1, 2, 4}) {
    core::set_threads(threads);
    SampleSpans it(answering(), 40);
    it.drawn.arena().zero_gradients();
    autograd::Tape tape;
    autograd::Journal journal;
    tape.sweep(it.model.loss(Pass(tape, core::Rng(3), journal), reading, 1));
    const auto gradients = it.drawn.arena().gradients();
    all.emplace_back(gradients.begin(), gradients.end());
  }
  core::set_threads(0);
  EXPECT_TRUE(tests::same_bits(all[0], all[1]));
  EXPECT_TRUE(tests::same_bits(all[0], all[2]));
}

}  // namespace
}  // namespace weft::layers::span_model_contract_test
