// What every model that generates one sequence from another must keep to, plain or reversible,
// whatever its parts are.
#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/sample_seq2seq.h"

namespace weft::layers::seq2seq_contract_test {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);
const std::vector<Index> lengths = {4, 9, 1};
constexpr Index T = SampleSeq2Seq::length;

template <class Check>
void for_every_form(const Check& check) {
  for (const Seq2SeqForm& form : every_seq2seq_form()) {
    SCOPED_TRACE(describe(form));
    check(form);
  }
}

TEST(Seq2Seq, logits_do_not_depend_on_what_padding_holds) {
  for_every_form([](const Seq2SeqForm& form) {
    const SampleSeq2Seq it(form.settings, form.sparse_projection);
    const Tensor logits = it.logits(it.reading(lengths, 0, 1));
    EXPECT_TRUE(same_bits(it.logits(it.reading(lengths, 0, 2)).read(), logits.read()));
  });
}

TEST(Seq2Seq, logits_do_not_depend_on_the_amount_of_padding) {
  for_every_form([](Seq2SeqForm form) {
    form.settings.positions =
        PositionKind::sinusoidal;  // learned tables end with the longest source
    const SampleSeq2Seq it(form.settings, form.sparse_projection);
    const std::vector<double> logits = tests::in_double(it.logits(it.reading(lengths)).read());
    for (const Index padding : {1, 30})
      tests::expect_close(it.logits(it.reading(lengths, padding)).read(), logits,
                          in_double ? 1e-12 : 1e-5);
  });
}

TEST(Seq2Seq, padding_changes_no_gradient) {
  for_every_form([](Seq2SeqForm form) {
    form.settings.sparse_ff.hard = 0;
    SampleSeq2Seq it(form.settings, form.sparse_projection);
    const std::vector<Real> gradients = it.train(it.reading(lengths, 0, 1));
    const std::vector<Real> others = it.train(it.reading(lengths, 0, 2));
    tests::expect_close(others, tests::in_double(gradients), in_double ? 1e-12 : 1e-5);
  });
}

TEST(Seq2Seq, logits_before_a_changed_token_keep_their_bits) {
  for_every_form([](const Seq2SeqForm& form) {
    const SampleSeq2Seq it(form.settings, form.sparse_projection);
    Reading reading = it.reading(lengths);
    const Tensor before = it.logits(reading);
    for (const Index t : {1, 4, 6}) {
      std::vector<core::Token> ids(reading.inputs.read().begin(), reading.inputs.read().end());
      for (Index i = T + t; i < 2 * T; ++i)
        ids[std::size_t(i)] = (ids[std::size_t(i)] + 1 + core::Token(i % 9)) % 11;
      Reading changed = reading;
      changed.inputs = core::Tokens(reading.inputs.shape(), ids);
      const Tensor after = it.logits(changed);
      EXPECT_TRUE(same_bits(before.rows(0, T + t).read(), after.rows(0, T + t).read()));
      EXPECT_FALSE(same_bits(before.rows(T + t, 1).read(), after.rows(T + t, 1).read()));
      EXPECT_TRUE(same_bits(before.rows(2 * T, T).read(), after.rows(2 * T, T).read()));
    }
  });
}

TEST(Seq2Seq, every_token_hears_of_every_token_of_its_own_source) {
  for_every_form([](const Seq2SeqForm& form) {
    const SampleSeq2Seq it(form.settings, form.sparse_projection);
    const Reading reading = it.reading(lengths);
    const Tensor before = it.logits(reading);
    for (const Index at : {0, 3}) {  // of the first source
      std::vector<core::Token> ids(reading.sources.read().begin(), reading.sources.read().end());
      ids[std::size_t(at)] = (ids[std::size_t(at)] + 1) % 12;
      Reading changed = reading;
      changed.sources = core::Tokens(reading.sources.shape(), ids);
      const Tensor after = it.logits(changed);
      for (Index t = 0; t < 3 * T; ++t)
        EXPECT_EQ(same_bits(before.rows(t, 1).read(), after.rows(t, 1).read()), t >= T);
    }
  });
}

void expect_decoding(const SampleSeq2Seq& it) {
  const Reading reading = it.reading(lengths);
  const Tensor whole = it.logits(reading);
  for (Index b = 0; b < Index(lengths.size()); ++b) {
    const auto source = reading.sources.read().subspan(std::size_t(b * it.source),
                                                       std::size_t(lengths[std::size_t(b)]));
    const auto decoder = it.model.begin({source.begin(), source.end()});
    for (Index t = 0; t < T; ++t)
      tests::expect_close(
          it.model.step({{decoder.get(), reading.inputs.read()[std::size_t(b * T + t)]}}).read(),
          tests::in_double(whole.rows(b * T + t, 1).read()), in_double ? 1e-9 : 1e-3);
  }
}

TEST(Seq2Seq, generates_targets_together_as_alone_and_reads_dense_weights_once) {
  for_every_form([](const Seq2SeqForm& form) {
    const bool dense = !form.sparse_projection && !form.settings.uses(FeedForwardKind::sparse) &&
                       form.settings.output == OutputKind::dense;
    const SampleSeq2Seq it(form.settings, form.sparse_projection);
    const Reading reading = it.reading(lengths);
    std::vector<std::unique_ptr<SourceDecoder>> together, alone;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const auto source =
          reading.sources.read().subspan(b * std::size_t(it.source), std::size_t(lengths[b]));
      together.push_back(it.model.begin({source.begin(), source.end()}));
      alone.push_back(together.back()->copy());
    }
    for (Index t = 0; t < T; ++t) {
      std::vector<NextOfTarget> next;
      for (std::size_t b = 0; b < lengths.size(); ++b)
        next.push_back({together[b].get(), core::Token((t + Index(b)) % 12)});
      Index before = core::counters().weight_bytes;
      const Tensor all = it.model.step(next);
      const Index bytes = core::counters().weight_bytes - before;
      for (std::size_t b = 0; b < lengths.size(); ++b) {
        before = core::counters().weight_bytes;
        const Tensor own = it.model.step({{alone[b].get(), next[b].token}});
        if (dense) {
          EXPECT_EQ(core::counters().weight_bytes - before, bytes);
        }
        EXPECT_TRUE(same_bits(all.rows(Index(b), 1).read(), own.read()));
      }
    }
  });
}

TEST(Seq2Seq, tells_token_by_token_what_it_computes_at_once) {
  for_every_form([](const Seq2SeqForm& form) {
    expect_decoding(SampleSeq2Seq(form.settings, form.sparse_projection));
  });
}

TEST(Seq2Seq, works_with_every_attention_that_the_check_lets_pass) {
  std::size_t passed = 0;
  for (const bool reversible : {false, true})
    for (const AttentionEntry& entry : attention_registry()) {
      ModelSettings settings = small_seq2seq(reversible);
      settings.attention = {std::string(entry.kind)};
      settings.seq2seq.cross_attention = entry.kind;
      for (const bool over_source : {true, false}) {
        if (!over_source) settings.seq2seq.cross_attention = "dense";
        tests::GivenFields fields;
        check_seq2seq(fields, settings, SampleSeq2Seq::plans(settings, false));
        if (!fields.problems().empty()) continue;
        SCOPED_TRACE(describe(Seq2SeqForm{settings}));
        const SampleSeq2Seq it(settings);
        expect_decoding(it);
        EXPECT_TRUE(same_bits(it.logits(it.reading(lengths, 0, 1)).read(),
                              it.logits(it.reading(lengths, 0, 2)).read()));
        ++passed;
      }
    }
  EXPECT_GT(passed, 30u);
}

TEST(Seq2Seq, any_number_of_threads_gives_the_same_bits) {
  for_every_form([](const Seq2SeqForm& form) {
    SampleSeq2Seq it(form.settings, form.sparse_projection);
    core::set_threads(1);
    const std::vector<Real> alone = it.train(it.reading(lengths));
    core::set_threads(3);
    EXPECT_TRUE(same_bits(it.train(it.reading(lengths)), alone));
    core::set_threads(0);
  });
}

TEST(Seq2Seq, gradients_agree_with_differences) {
  for_every_form([](Seq2SeqForm form) {
    form.settings.sparse_ff.hard = 0;
    form.settings.dropout = 0.2;
    form.settings.norm_place = form.settings.reversible ? NormPlace::pre : NormPlace::post;
    SampleSeq2Seq it(form.settings, form.sparse_projection);
    tests::check_gradient(
        "loss",
        [&](const Pass& pass, const std::vector<Var>&) {
          return it.model.loss(pass, it.reading({3, 2}), 1);
        },
        {}, it.drawn.arena());
  });
}

TEST(Seq2Seq, scores_what_the_loss_is_the_mean_of) {
  for (const bool reversible : {false, true}) {
    const SampleSeq2Seq it(small_seq2seq(reversible));
    const Reading reading = it.reading(lengths);
    const TokenScores scores = it.model.score(Pass(), reading);
    double sum = 0, counted = 0;
    for (std::size_t i = 0; i < scores.nats.size(); ++i)
      if (reading.targets.read()[i] != core::no_target) sum += scores.nats[i], ++counted;
    EXPECT_NEAR(core::scalar(it.model.loss(Pass(), reading, 1).value()), sum / counted, 1e-5);
  }
}

TEST(Seq2Seq, refuses_readings_without_fitting_sources) {
  for (const bool reversible : {false, true}) {
    const SampleSeq2Seq it(small_seq2seq(reversible));
    Reading none = it.reading(lengths);
    none.sources = {};
    EXPECT_THROW(it.model.hidden(Pass(), none), core::Error);
    for (const std::vector<Index>& wrong : {std::vector<Index>{1, 2}, {1, 10, 1}, {1, 0, 1}}) {
      Reading reading = it.reading(lengths);
      reading.source_lengths = std::make_shared<const std::vector<Index>>(wrong);
      EXPECT_THROW(it.model.hidden(Pass(), reading), core::Error);
    }
    EXPECT_THROW(it.model.begin({}), core::Error);
  }
}

}  // namespace
}  // namespace weft::layers::seq2seq_contract_test
