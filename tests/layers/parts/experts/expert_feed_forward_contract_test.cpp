#include "core/counters.h"
#include "core/error.h"
#include "tests/gradient_check.h"
#include "tests/layers/given_fields.h"
#include "tests/layers/parts/experts/naive_experts.h"
#include "tests/layers/parts/part_bits.h"

namespace weft::layers::expert_feed_forward_contract_test {
namespace {

constexpr double tolerance = 2000 * tests::epsilon;

ExpertFeedForward made(Index width, Index hidden, const ExpertSettings& settings) {
  return {width, hidden, settings, Init::zeros(), Init::zeros()};
}

Sequences padded(Index batch, Index length, std::vector<Index> lengths) {
  Sequences rows = Sequences::self(batch, length, true);
  rows.key_lengths = std::make_shared<std::vector<Index>>(std::move(lengths));
  return rows;
}

TEST(Experts, gives_every_token_the_weighed_sum_of_its_most_probable_experts) {
  for (const Index experts : {1, 3, 8})
    for (const Index choices : {1, 2, 3}) {
      if (choices > experts) continue;
      ExpertFeedForward part = made(6, 10, {.experts = experts, .choices = choices, .gate_eps = 0});
      const DrawnWeights drawn(part, 0.8);
      const Tensor x = tests::random_tensor({70, 6}, 1);
      tests::expect_close(part.forward(Pass(), Var(x), Sequences::self(2, 35, true)).value().read(),
                          naive_experts(drawn.weights(), Grid(x), choices).numbers, tolerance);
    }
}

TEST(Experts, of_which_there_is_one_or_all_are_equal_are_the_dense_feed_forward) {
  ExpertFeedForward part = made(6, 10, {.experts = 4, .choices = 2, .gate_eps = 0});
  DrawnWeights drawn(part);
  for (const auto& slot : drawn.arena().slots()) {
    if (slot.name == "router.weight") continue;
    const auto value = drawn.arena().value(slot);
    const std::size_t one = value.size() / 4;
    for (std::size_t i = one; i < value.size(); ++i) value[i] = value[i - one];
  }
  const Tensor x = tests::random_tensor({9, 6}, 1);
  Grid expected(9, 6);
  for (Index r = 0; r < 9; ++r)
    std::ranges::copy(naive_expert(drawn.weights(), 0, Grid(x), r),
                      expected.numbers.begin() + r * 6);
  tests::expect_close(part.forward(Pass(), Var(x), Sequences::self(1, 9, true)).value().read(),
                      expected.numbers, tolerance);
}

TEST(Experts, takes_first_choices_by_position_before_any_second_one) {
  // Everyone wants expert 0 first and expert 1 second.
  Tensor p({6, 3});
  for (std::size_t r = 0; r < 6; ++r)
    for (std::size_t e = 0; e < 3; ++e) p.write()[3 * r + e] = Real(e == 0 ? 0.6 : 0.3 / double(e));
  const Sequences rows = Sequences::self(2, 3, true);  // rows 0..2 and 3..5
  EXPECT_EQ(rows_in_order(rows), (std::vector<Index>{0, 3, 1, 4, 2, 5}));
  const ExpertChoice choice = choose_experts(p, {.choices = 2, .capacity = 3}, rows_in_order(rows));
  EXPECT_EQ(choice.taken, (std::vector<Index>{3, 3, 0}));
  EXPECT_EQ(choice.first, (std::vector<Index>{6, 0, 0}));
  EXPECT_EQ(choice.lost, 6);
  const std::vector<bool> has_place{true, true, true,  true,  false, false,
                                    true, true, false, false, false, false};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(choice.place[i] >= 0, has_place[i]) << i;
}

TEST(Experts, of_equal_probabilities_the_lower_numbers_are_chosen) {
  const ExpertChoice choice = choose_experts(Tensor({2, 5}, Real(0.2)), {.choices = 3}, {0, 1});
  EXPECT_EQ(choice.expert, (std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}));
}

TEST(Experts, gives_up_second_choices_by_their_draws) {
  Tensor p({2, 2});
  std::ranges::copy(std::vector<Real>{Real(0.9), Real(0.1), Real(0.9), Real(0.1)},
                    p.write().begin());
  const ChoiceRule rule{.choices = 2, .second_threshold = 0.2, .gate = {.normalise = true}};
  const std::vector<double> draws{0.49, 0.51};  // gate / threshold is 0.5
  const ExpertChoice choice = choose_experts(p, rule, {0, 1}, draws);
  EXPECT_GE(choice.place[1], 0);
  EXPECT_EQ(choice.place[3], -1);
  EXPECT_EQ(choice.lost, 0);
}

TEST(Experts, leaves_padding_out_of_everything) {
  ExpertFeedForward part = made(5, 7, {.experts = 3, .choices = 2, .capacity = 0.8});
  DrawnWeights drawn(part);
  Tensor x = tests::random_tensor({8, 5}, 1), upstream = tests::random_tensor({8, 5}, 2);
  const auto run = [&](const Tensor& in) {
    autograd::Tape tape;
    autograd::Journal journal;
    const Pass pass(tape, core::Rng(1), journal);
    drawn.arena().zero_gradients();
    const Var given = tape.watch(in);
    const Var y = part.forward(pass, given, padded(2, 4, {4, 1}));
    journal.penalty_gradient = 1;
    tape.sweep(y, upstream);
    std::vector<Real> all(y.value().read().begin(), y.value().read().end());
    for (const auto& more :
         {tape.gradient(given).read(), std::span<const Real>(drawn.arena().gradients())})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<Real> first = run(x);
  for (std::size_t i = 25; i < 40; ++i) {
    EXPECT_EQ(first[i], 0) << "output";
    EXPECT_EQ(first[40 + i], 0) << "gradient";
    x.write()[i] = 7;
  }
  EXPECT_TRUE(tests::same_bits(first, run(x)));
}

TEST(Experts, rows_before_a_changed_one_keep_their_bits) {
  for (const ExpertSettings& settings :
       {ExpertSettings{.experts = 4}, ExpertSettings{.experts = 4, .choices = 3},
        ExpertSettings{.experts = 4, .capacity = 0.7}}) {
    ExpertFeedForward part = made(16, 24, settings);
    const DrawnWeights drawn(part, 1);
    const Tensor x = tests::random_tensor({120, 16}, 1);
    const Sequences rows = Sequences::self(1, 120, true);
    const Tensor before = part.forward(Pass(), Var(x), rows).value();
    for (const Index t : {1, 37, 119}) {
      Tensor y = x;
      core::fill_normal(y.write().subspan(std::size_t(t * 16)), core::Rng(9), 1);
      const Tensor after = part.forward(Pass(), Var(y), rows).value();
      EXPECT_TRUE(tests::same_bits(before.rows(0, t).read(), after.rows(0, t).read()));
      if (settings.capacity == 0) {  // else the row may be lost in both
        EXPECT_FALSE(tests::same_bits(before.rows(t, 1).read(), after.rows(t, 1).read()));
      }
    }
  }
}

TEST(Experts, decodes_what_it_computes_at_once_and_reads_the_chosen_experts_only) {
  const Index W = 12, F = 20, E = 6;
  for (const Index choices : {1, 2}) {
    ExpertFeedForward part = made(W, F, {.experts = E, .choices = choices});
    const DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({30, W}, 1);
    const Tensor whole = part.forward(Pass(), Var(x), Sequences::self(1, 30, true)).value();
    for (Index t = 0; t < 30; ++t) {
      const Index before = core::counters().weight_bytes, flops = core::counters().flops;
      const Tensor y = part.step(x.rows(t, 1));
      EXPECT_EQ(core::counters().weight_bytes - before,
                (W * E + choices * 2 * W * F) * Index(sizeof(Real)));
      EXPECT_EQ(core::counters().flops - flops, 2 * part.weights());
      tests::expect_close(y.read(), tests::in_double(whole.rows(t, 1).read()), tolerance);
    }
  }
}

TEST(Experts, multiplies_no_more_than_its_choices_and_the_filler_of_one_panel_an_expert) {
  const Index W = 16, F = 32, E = 4, rows = 2048;
  for (const Index choices : {1, 2}) {
    ExpertFeedForward part = made(W, F, {.experts = E, .choices = choices});
    const DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({rows, W}, 1);
    const Index before = core::counters().flops;
    part.forward(Pass(), Var(x), Sequences::self(1, rows, true));
    const Index flops = core::counters().flops - before;
    EXPECT_GE(flops, 2 * rows * part.weights());
    EXPECT_LE(flops, 2 * rows * part.weights() + E * 128 * 4 * W * F);
  }
}

TEST(Experts, any_number_of_threads_and_a_replay_give_the_same_bits) {
  ExpertFeedForward part =
      made(40, 64,
           {.experts = 5, .choices = 2, .second = ExpertSettings::Second::random, .jitter = 0.5});
  expect_bits_on_any_threads_and_in_a_replay(part, Sequences::self(3, 100, true), 40);
}

TEST(Experts, metrics_say_how_experts_were_used_in_the_last_step) {
  ExpertFeedForward part = made(4, 4, {.experts = 4, .capacity = 1});
  DrawnWeights drawn(part);
  EXPECT_TRUE(part.metrics().empty());
  for (const auto& slot : drawn.arena().slots())
    if (slot.name == "router.weight")  // all rows want expert 2
      for (std::size_t i = 0; i < 16; ++i) drawn.arena().value(slot)[i] = i / 4 == 2 ? 1 : 0;
  autograd::Tape tape;
  autograd::Journal journal;
  part.forward(Pass(tape, core::Rng(1), journal), Var(Tensor({8, 4}, 1)),
               Sequences::self(1, 8, true));
  journal.commit();
  const auto metrics = part.metrics();
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[0].name, "largest_expert");
  EXPECT_EQ(metrics[0].value, 1);
  EXPECT_EQ(metrics[1].value, 0);
  EXPECT_EQ(metrics[2].name, "entropy");
  EXPECT_EQ(metrics[2].value, 0);
  EXPECT_EQ(metrics[3].name, "lost");
  EXPECT_EQ(metrics[3].value, 0.75);
}

TEST(Experts, charges_the_price_where_all_are_used_alike) {
  ExpertFeedForward part = made(4, 4, {.experts = 4, .balance = 0.5});
  DrawnWeights drawn(part);
  for (const auto& slot : drawn.arena().slots())
    if (slot.name == "router.weight")
      for (std::size_t i = 0; i < 16; ++i) drawn.arena().value(slot)[i] = i % 5 == 0 ? 1 : 0;
  Tensor x({4, 4}, 0);
  for (std::size_t i = 0; i < 4; ++i) x.write()[5 * i] = 1;  // row i wants expert i
  autograd::Tape tape;
  autograd::Journal journal;
  part.forward(Pass(tape, core::Rng(1), journal), Var(x), Sequences::self(1, 4, true));
  EXPECT_NEAR(journal.take_charges(), 0.5, 1e-6);
}

TEST(Experts, passes_gradients) {
  for (const ExpertSettings& settings :
       {ExpertSettings{.experts = 3, .balance = 0},
        ExpertSettings{.experts = 3, .choices = 2, .balance = 0, .capacity = 0.6, .jitter = 0.2},
        ExpertSettings{
            .experts = 3, .choices = 2, .balance = 0, .second = ExpertSettings::Second::random}}) {
    ExpertFeedForward part = made(5, 6, settings);
    DrawnWeights drawn(part);
    tests::check_gradient(
        "experts",
        [&](const Pass& pass, const std::vector<Var>& in) {
          return part.forward(pass, in[0], padded(2, 5, {5, 3}));
        },
        {tests::random_tensor({10, 5}, 1)}, drawn.arena());
  }
}

TEST(Experts, settings_name_what_is_wrong) {
  tests::GivenFields fields({{"ff_experts", Index(2)}, {"ff_choices", Index(3)}});
  ExpertSettings().fields(fields);
  EXPECT_TRUE(fields.problems().contains("ff_choices"));
  EXPECT_THROW(made(4, 12, {.experts = 2, .choices = 3}), core::Error);
  EXPECT_TRUE((ExpertSettings{.choices = 2, .capacity = 1}.leaks()));
  EXPECT_FALSE((ExpertSettings{.choices = 1, .capacity = 1}.leaks()));
  EXPECT_FALSE((ExpertSettings{.choices = 2}.leaks()));
}

}  // namespace
}  // namespace weft::layers::expert_feed_forward_contract_test
