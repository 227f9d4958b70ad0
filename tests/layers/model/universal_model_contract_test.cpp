#include <cmath>

#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "layers/model/classifier.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/model/universal_forms.h"

namespace weft::layers::universal_model_contract_test {
namespace {

using namespace universal_forms;

TEST(UniversalModel, decodes_token_by_token_what_it_reads_at_once) {
  for (Form form : forms())
    for (const std::string kind : {"dense", "local", "linear"}) {
      SCOPED_TRACE(form.name + ", " + kind);
      form.settings.attention = {kind};
      const SampleModel it(form.settings, 9);
      const core::Tokens tokens = it.tokens(1, 4);
      const Tensor all = it.model.logits(it.model.hidden(Pass(), tokens).value());
      BranchStates states = it.model.begin();
      EXPECT_EQ(states.branches.size(),
                std::size_t(2 * form.settings.layers * form.settings.universal.steps));
      for (Index t = 0; t < 9; ++t) {
        const Tensor own = it.model.step(states, tokens.read()[std::size_t(t)]);
        const auto expected = all.read().subspan(std::size_t(t) * 11, 11);
        tests::expect_close(own.read(), std::vector<double>(expected.begin(), expected.end()),
                            3000 * tests::epsilon);
      }
    }
}

TEST(UniversalModel, reads_nothing_of_the_future_bit_for_bit) {
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    const SampleModel it(form.settings, 9);
    const core::Tokens tokens = it.tokens(1, 4);
    std::vector<core::Token> ids(tokens.read().begin(), tokens.read().end());
    for (std::size_t t = 5; t < 9; ++t) ids[t] = (ids[t] + 3) % 11;
    const Tensor a = it.model.hidden(Pass(), tokens).value();
    const Tensor b = it.model.hidden(Pass(), core::Tokens({1, 9}, ids)).value();
    const auto before = std::size_t(5 * a.shape()[1]);
    EXPECT_TRUE(
        std::equal(a.read().begin(), a.read().begin() + std::ptrdiff_t(before), b.read().begin()));
  }
}

TEST(UniversalModel, learns_the_same_bits_when_steps_run_again_and_at_any_number_of_threads) {
  for (const Form& form : forms()) {
    if (form.settings.reversible) continue;
    SCOPED_TRACE(form.name);
    SampleModel kept(form.settings, 40), again(form.settings, 40, true);
    core::set_threads(1);
    const Real loss = kept.train();
    core::set_threads(3);
    EXPECT_EQ(again.train(), loss);
    core::set_threads(0);
    const auto a = kept.drawn.arena().gradients(), b = again.drawn.arena().gradients();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

/// Every position halts at its third step at the latest.
ModelSettings hasty(Index limit) {
  ModelSettings settings = acting(limit);
  settings.universal.epsilon = 0.4;
  return settings;
}

void set_bias(SampleModel& it, Real bias) {
  for (const auto& slot : it.drawn.arena().slots()) {
    if (slot.name.ends_with("halting.weight"))
      for (Real& w : it.drawn.arena().value(slot)) w = 0;
    if (slot.name.ends_with("halting.bias")) it.drawn.arena().value(slot)[0] = bias;
  }
}

TEST(UniversalModel, stops_when_all_have_halted_and_no_bit_shows_that_the_limit_was_higher) {
  SampleModel low(hasty(3), 9), high(hasty(30), 9);
  set_bias(low, Real(-0.8));  // p = 0.31: 0.62 after two steps is above 1 - epsilon
  set_bias(high, Real(-0.8));
  const core::Tokens tokens = low.tokens(2, 1);
  const Index pairs = core::counters().scored_pairs;
  const Tensor a = low.model.hidden(Pass(), tokens).value();
  const Index once = core::counters().scored_pairs - pairs;
  const Tensor b = high.model.hidden(Pass(), tokens).value();
  EXPECT_TRUE(std::ranges::equal(a.read(), b.read()));
  EXPECT_EQ(core::counters().scored_pairs - pairs, 2 * once);
  EXPECT_EQ(once, low.model.attention_cost(2).scored_pairs / 3 * 2);
}

TEST(UniversalModel, costs_what_its_kernels_count_where_all_take_every_step) {
  for (const Form& form : {forms()[0], forms()[1]}) {
    const SampleModel it(form.settings, 20);
    core::Counters& counters = core::counters();
    const Index pairs = counters.scored_pairs, flops = counters.flops;
    it.model.hidden(Pass(), it.tokens(2, 1));
    EXPECT_EQ(counters.scored_pairs - pairs, it.model.attention_cost(2).scored_pairs);
    const double output = double(it.model.matrix_weights() - it.model.layer_weights());
    EXPECT_EQ(double(counters.flops - flops),
              double(it.model.attention_cost(2).flops) +
                  80 * (it.model.rows_per_token() * double(it.model.matrix_weights()) - output));
  }
}

TEST(UniversalModel, passes_halted_positions_by_the_feed_forward) {
  SampleModel it(acting(4), 9);
  set_bias(it, 10);  // all halt at the first step
  const Index flops = core::counters().flops;
  it.model.hidden(Pass(), it.tokens(2, 1));
  const Index one_step = core::counters().flops - flops;
  EXPECT_LT(double(one_step), 2 * 18 * 1.5 * double(it.model.layer_weights()) +
                                  double(it.model.attention_cost(2).flops) / 4);
}

TEST(UniversalModel, reports_mean_steps_and_who_reached_the_limit) {
  SampleModel it(acting(4), 9);
  set_bias(it, Real(-0.8));
  autograd::Tape tape;
  autograd::Journal journal;
  it.model.loss(Pass(tape, core::Rng(3), journal), {it.tokens(2, 1), it.targets(2)}, 1);
  journal.commit();
  std::map<std::string, double> metrics;
  for (const autograd::Metric& metric : it.drawn.inventory().metrics())
    metrics[metric.name.substr(metric.name.rfind('.') + 1)] = metric.value;
  EXPECT_EQ(metrics.at("steps"), 4);  // 0.31 x 3 is below 0.99
  EXPECT_EQ(metrics.at("at_limit"), 1);
  EXPECT_NEAR(metrics.at("remainder"), 1 - 3 / (1 + std::exp(0.8)), 1e-5);
}

TEST(UniversalModel, says_how_many_steps_each_sequence_took) {
  for (const Pool pool : {Pool::mean, Pool::cls}) {
    ModelSettings settings = acting(5);
    settings.task = Task::classify;
    settings.pool = pool;
    settings.causal = false;
    Classifier model(settings, default_plans(settings, settings.places(9)), {11, 9, 3});
    DrawnWeights<Classifier> drawn(model, 2);
    Reading reading{tests::random_tokens({3, 9}, 11, 1), core::Tokens({3, 1}, {1, 0, 2})};
    const std::vector<Index> real{9, 4, 7};
    reading.lengths = std::make_shared<const std::vector<Index>>(real);
    const std::vector<float> steps = model.score(Pass(), reading).steps;
    ASSERT_EQ(steps.size(), 3u);
    autograd::Tape tape;
    autograd::Journal journal;
    model.loss(Pass(tape, core::Rng(3), journal), reading, 1);
    journal.commit();
    double all = 0, positions = 0;
    for (std::size_t row = 0; row < real.size(); ++row) {
      const double own = double(real[row] + (pool == Pool::cls ? 1 : 0));
      EXPECT_NEAR(steps[row] * own, std::round(steps[row] * own), 1e-5);
      all += steps[row] * own;
      positions += own;
    }
    for (const autograd::Metric& metric : drawn.inventory().metrics()) {
      if (!metric.name.ends_with(".steps")) continue;
      EXPECT_NEAR(metric.value, all / positions, 1e-5);
    }
    EXPECT_GT(all, positions);
    EXPECT_LT(all, 5 * positions);
  }
}

TEST(UniversalModel, gives_a_position_the_same_whatever_other_sequences_do) {
  const ModelSettings settings = [] {
    ModelSettings own = acting(5);
    own.task = Task::classify;
    own.pool = Pool::mean;
    own.causal = false;
    return own;
  }();
  Classifier model(settings, default_plans(settings, 9), {11, 9, 3});
  const DrawnWeights<Classifier> drawn(model);
  const auto reading = [](Index batch, std::vector<Index> real) {
    Reading own{tests::random_tokens({batch, 9}, 11, 1),
                core::Tokens({batch, 1}, std::vector<core::Token>(std::size_t(batch), 1))};
    own.lengths = std::make_shared<const std::vector<Index>>(std::move(real));
    return own;
  };
  const Tensor alone = model.logits(Pass(), reading(1, {5}));
  const Tensor among = model.logits(Pass(), reading(3, {5, 9, 1}));
  const auto first = among.read().first(3);
  tests::expect_close(alone.read(), std::vector<double>(first.begin(), first.end()),
                      1000 * tests::epsilon);
}

TEST(UniversalModel, has_one_layer_and_sinusoids_unless_told_otherwise_and_says_what_it_cannot_do) {
  const auto problems = [](tests::Settings given) {
    ModelSettings settings;
    given["steps"] = Index(4);
    tests::GivenFields fields(given);
    settings.fields(fields);
    EXPECT_EQ(settings.layers, 1);
    return fields.problems();
  };
  EXPECT_TRUE(problems({}).empty());
  EXPECT_TRUE(problems({{"reversible", true}}).empty());
  EXPECT_TRUE(problems({{"reversible", true}, {"halting", "act"}}).contains("reversible"));
  EXPECT_TRUE(problems({{"halting", "act"},
                        {"feedforward", std::vector<std::string>{"experts"}},
                        {"ff_capacity", 1.25}})
                  .contains("ff_capacity"));
  EXPECT_TRUE(problems({{"task", "seq2seq"}}).contains("steps"));
}

}  // namespace
}  // namespace weft::layers::universal_model_contract_test
