// Spans: what the registry's contract does not know of them.
#include "autograd/ops.h"
#include "core/counters.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/attention/naive_span.h"

namespace weft::layers::span_contract_test {
namespace {

using tests::same_bits;
using tests::Settings;

constexpr bool in_double = sizeof(Real) == sizeof(double);
constexpr Index span = 60, ramp = 8;

Settings with(Settings more) {
  more.insert({{"span", span}, {"ramp", ramp}});
  return more;
}

/// Three heads of width 4 whose reaches are the given shares of the span.
AttentionSample adaptive(const Sequences& s, const std::vector<Real>& shares, Settings more = {}) {
  AttentionSample it("adaptive_span", s, 3, 4, with(std::move(more)));
  std::ranges::copy(shares, it.arena().values().begin());
  return it;
}

const std::vector<Real> mixed = {Real(0.06), Real(0.42), 1};
const Sequences alone = Sequences::self(2, 130, true);

TEST(Span, z_at_its_largest_is_the_fixed_span) {
  const auto soft = adaptive(alone, {1, 1, 1}).run();
  const auto fixed = AttentionSample("fixed_span", alone, 3, 4, {{"span", span}}).run();
  EXPECT_TRUE(same_bits(soft.out.read(), fixed.out.read()));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(same_bits(soft.gradients[i].read(), fixed.gradients[i].read()));
}

TEST(Span, trimmed_heads_give_what_the_whole_span_gives) {
  // The least guard keeps every key of the span in the sums and changes no number.
  const auto trimmed = adaptive(alone, mixed).run();
  const auto whole = adaptive(alone, mixed, {{"renorm_eps", 1e-30}}).run();
  tests::expect_close(trimmed.out.read(), tests::in_double(whole.out.read()), 1e-6);
  for (std::size_t i = 0; i < 3; ++i)
    tests::expect_close(trimmed.gradients[i].read(), tests::in_double(whole.gradients[i].read()),
                        in_double ? 1e-12 : 1e-5);
}

TEST(Span, every_head_scores_the_keys_inside_its_own_span_and_no_others) {
  const AttentionSample it = adaptive(alone, mixed);
  const Index lengths[] = {4 + ramp, Index(std::ceil(0.42 * span)) + ramp, span};
  Index pairs = 0;
  for (const Index length : lengths)
    for (Index i = 0; i < alone.queries; ++i) pairs += alone.batch * std::min(i, length);
  const Index before = core::counters().scored_pairs;
  it.evaluate();
  EXPECT_EQ(core::counters().scored_pairs - before, pairs);
  EXPECT_EQ(it.attention().cost(alone).scored_pairs, pairs);
  tests::expect_close(
      it.evaluate().read(),
      NaiveSpan{.span = span, .ramp = ramp}.forward(it, {tests::in_double(it.inputs()[0].read()),
                                                         tests::in_double(it.inputs()[1].read()),
                                                         tests::in_double(it.inputs()[2].read()),
                                                         {}}),
      in_double ? 1e-12 : 1e-5);
}

TEST(Span, short_spans_cost_a_small_part_of_long_ones) {
  const Sequences s = Sequences::self(1, 1024, true);
  const auto cost = [&](double initial) {
    return AttentionSample("adaptive_span", s, 2, 8, {{"initial", initial}}).attention().cost(s);
  };
  EXPECT_LT(cost(0).flops, cost(1).flops / 6);
  EXPECT_LT(cost(0).backward_flops, cost(1).backward_flops / 6);
}

TEST(Span, the_gradient_of_z_agrees_with_differences_of_the_naive_formula) {
  const AttentionSample it = adaptive(alone, mixed);
  const auto gradients = it.run().parameter_gradients;
  const Tensor up = it.upstream();
  std::vector<std::vector<double>> inputs;
  for (const Tensor& x : it.inputs()) inputs.push_back(tests::in_double(x.read()));
  constexpr double h = 1e-5;
  for (std::size_t head = 0; head < 2; ++head) {
    double numeric = 0;
    for (const double sign : {1.0, -1.0}) {
      NaiveSpan naive{.span = span, .ramp = ramp};
      naive.moved_head = Index(head);
      naive.moved_by = sign * h;
      const auto out = naive.forward(it, inputs);
      for (std::size_t i = 0; i < out.size(); ++i)
        numeric += sign * out[i] * up.read()[i] / (2 * h);
    }
    EXPECT_NEAR(gradients[head], numeric, (in_double ? 1e-7 : 1e-4) * std::abs(numeric));
  }
}

TEST(Span, keys_exactly_at_the_ends_of_a_ramp_pull_at_z_as_at_a_clamp) {
  const AttentionSample it = adaptive(alone, {0, Real(0.5), Real(0.25)});
  const auto gradients = it.run().parameter_gradients;
  const auto up = tests::in_double(it.upstream().read());
  std::vector<std::vector<double>> inputs;
  for (const Tensor& x : it.inputs()) inputs.push_back(tests::in_double(x.read()));
  const NaiveSpan naive{.span = span, .ramp = ramp};
  for (std::size_t head = 0; head < 3; ++head) {
    const double expected = double(span) * naive.reach_gradient(it, inputs, up, Index(head));
    EXPECT_NEAR(gradients[head], expected, (in_double ? 1e-10 : 1e-4) * std::abs(expected));
  }
}

TEST(Span, a_ramp_before_the_first_token_has_no_gradient) {
  const auto run = adaptive(Sequences::self(2, 40, true), {Real(0.8), Real(0.9), 1}).run();
  for (std::size_t head = 0; head < 3; ++head) EXPECT_EQ(run.parameter_gradients[head], 0);
}

TEST(Span, the_price_is_paid_for_the_mean_reach) {
  AttentionSample it = adaptive(alone, mixed, {{"price", 0.5}});
  it.arena().zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  const Var price = it.attention().penalty(Pass(tape, core::Rng(3), journal));
  EXPECT_NEAR(core::scalar(price.value()), 0.5 * span * (0.06 + 0.42 + 1) / 3, 1e-5);
  tape.sweep(price, Tensor({1}, 1));
  for (std::size_t head = 0; head < 3; ++head)
    EXPECT_NEAR(it.arena().gradients()[head], 0.5 * span / 3, 1e-5);
  EXPECT_EQ(it.attention().penalty(Pass()).value().size(), 0) << "evaluation pays nothing";
}

TEST(Span, chosen_reaches_are_charged_by_their_mean_over_tokens) {
  const AttentionSample it("dynamic_span", alone, 3, 4, with({{"price", 0.5}, {"bias", 0.0}}));
  autograd::Tape tape;
  autograd::Journal journal;
  std::vector<Var> in;
  for (const Tensor& x : it.inputs()) in.push_back(tape.watch(x));
  it.forward(Pass(tape, core::Rng(3), journal), in);
  double total = 0;
  const auto x = tests::in_double(it.inputs().back().read());
  for (Index token = 0; token < 260; ++token)
    for (Index head = 0; head < 3; ++head)
      total += NaiveSpan{.span = span, .ramp = ramp}.reach(it, x, token, head);
  EXPECT_NEAR(journal.take_charges(), 0.5 * total / (260 * 3), 1e-3);
  journal.commit();
  const auto spans = it.attention().spans();
  EXPECT_NEAR((spans[0] + spans[1] + spans[2]) / 3, total / (260 * 3) + ramp, 1e-2);
}

TEST(Span, z_comes_back_into_its_range_after_a_step) {
  AttentionSample it = adaptive(alone, {Real(-0.3), Real(0.5), Real(1.7)});
  it.attention().constrain();
  const auto values = it.arena().values();
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], Real(0.5));
  EXPECT_EQ(values[2], 1);
}

TEST(Span, decoding_keeps_a_ring_of_each_heads_own_span) {
  const AttentionSample it = adaptive(alone, mixed);
  const auto state = it.attention().begin();
  std::vector<Real> out(12);
  for (Index t = 0; t < 130; ++t) {
    StepInput step{{}, it.inputs()[3].rows(t, 1).read(), t};
    for (std::size_t i = 0; i < 3; ++i) step.blocks.push_back(it.inputs()[i].rows(t, 1).read());
    it.attention().step(*state, step, out);
  }
  const Index keys = (4 + ramp) + (Index(std::ceil(0.42 * span)) + ramp) + span;
  EXPECT_EQ(state->bytes(), 2 * (keys + 3) * 4 * Index(sizeof(Real)))
      << "the keys of every head's span and the token's own";
}

TEST(Span, reports_the_span_of_every_head_with_its_ramp) {
  const auto spans = adaptive(alone, mixed).attention().spans();
  EXPECT_NEAR(spans[0], 3.6 + ramp, 1e-5);
  EXPECT_NEAR(spans[1], 0.42 * span + ramp, 1e-5);
  EXPECT_NEAR(spans[2], span, 1e-5);
}

}  // namespace
}  // namespace weft::layers::span_contract_test
