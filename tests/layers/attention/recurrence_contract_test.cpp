#include "core/parallel.h"
#include "tests/layers/attention/recurrence_sample.h"

namespace weft::layers::recurrence_contract_test {
namespace {

using tests::same_bits;

constexpr bool in_double = sizeof(Real) == sizeof(double);

// max |a - b| / max |b|
double error_of(std::span<const Real> actual, const std::vector<double>& expected) {
  double worst = 0, largest = 1e-6;
  EXPECT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    if (!std::isfinite(actual[i])) return INFINITY;
    worst = std::max(worst, std::abs(double(actual[i]) - expected[i]));
  }
  return worst / largest;
}

TEST(Recurrence, agrees_with_the_rule_token_by_token) {
  for (const Index length : {1, 2, 17, 63, 64, 65, 200})
    for (const RecurrenceProblem& p : recurrence_forms(length))
      for (const double strength : {0.1, 5.0, 60.0}) {
        SCOPED_TRACE(describe(p));
        const RecurrenceSample it(p, strength, length % 2 == 0);
        const auto run = it.run();
        const auto naive = it.naive();
        EXPECT_LE(error_of(run.out.read(), naive[0]), in_double ? 1e-12 : 2e-5) << length;
        EXPECT_LE(error_of(run.final.read(), naive[1]), in_double ? 1e-12 : 2e-5) << length;
      }
}

TEST(Recurrence, gives_the_same_at_chunks_of_1_of_64_and_of_all) {
  constexpr Index length = 150;
  for (const RecurrenceProblem& p : recurrence_forms(length))
    for (const double strength : {0.1, 20.0}) {
      SCOPED_TRACE(describe(p));
      RecurrenceSample it(p, strength, true);
      const auto usual = it.run();
      for (const Index chunk : {Index(1), Index(7), length}) {
        it.problem.chunk = chunk;
        const auto other = it.run();
        EXPECT_LE(error_of(other.out.read(), tests::in_double(usual.out.read())),
                  in_double ? 1e-12 : 2e-5);
        for (std::size_t i = 0; i < usual.gradients.size(); ++i)
          EXPECT_LE(
              error_of(other.gradients[i].read(), tests::in_double(usual.gradients[i].read())),
              in_double ? 1e-11 : 1e-4)
              << "input " << i << ", chunk " << chunk;
      }
    }
}

TEST(Recurrence, a_gate_of_the_last_token_moves_no_bit_of_earlier_outputs) {
  for (const Index length : {6, 64, 90, 128})
    for (const RecurrenceProblem& p : recurrence_forms(length, 8))
      for (const double strength : {0.1, 40.0}) {
        SCOPED_TRACE(describe(p));
        const RecurrenceSample before(p, strength);
        RecurrenceSample after = before;
        for (Tensor* gate : {&after.decay, &after.write, &after.erase}) {
          if (gate->size() == 0 || gate->shape().rank() == 1) continue;
          const Index columns = gate->shape()[1];
          for (Index b = 0; b < 2; ++b)
            for (Index c = 0; c < columns; ++c) {
              Real& x = gate->write()[std::size_t(((b + 1) * length - 1) * columns + c)];
              x = gate == &after.decay ? x - Real(c % 3) * 70 : x / 3;
            }
        }
        const Tensor first = before.run().out, second = after.run().out;
        for (Index b = 0; b < 2; ++b)
          EXPECT_TRUE(same_bits(first.rows(b * length, length - 1).read(),
                                second.rows(b * length, length - 1).read()));
        if (p.decay == GateForm::token || p.decay == GateForm::column || p.erases()) {
          EXPECT_FALSE(same_bits(first.read(), second.read()));
        }
      }
}

TEST(Recurrence, states_stay_close_to_double_over_65536_tokens_with_strong_decays) {
  constexpr Index length = 65536;
  for (RecurrenceProblem p : recurrence_forms(length, 8)) {
    if (p.decay == GateForm::none && !p.erases()) continue;  // a sum that only grows
    p.sequences.batch = 1;
    p.heads = p.key_heads = 1;
    SCOPED_TRACE(describe(p));
    RecurrenceSample it(p, 0.01);
    // Every hundredth token forgets nearly all, down to e^-40.
    for (Index i = 0; i < it.decay.size() && p.decay != GateForm::head; ++i)
      if (i / it.decay.shape()[1] % 100 == 99) it.decay.write()[std::size_t(i)] = Real(-1 - i % 40);
    const auto run = it.run();
    const auto naive = it.naive();
    EXPECT_LE(error_of(run.out.read(), naive[0]), in_double ? 1e-10 : 1e-4);
    EXPECT_LE(error_of(run.final.read(), naive[1]), in_double ? 1e-10 : 1e-4);
    for (const Tensor& gradient : run.gradients)
      for (const Real g : gradient.read()) ASSERT_TRUE(std::isfinite(g));
  }
}

// A parameter of a decay gets the sum over all tokens, in which rounding errors that follow one
// another through a chunk would add up. With chunks of one token nothing cancels out.
TEST(Recurrence, sums_of_the_gradient_of_decays_are_as_exact_in_chunks_as_token_by_token) {
  constexpr Index length = 64;
  for (const RecurrenceProblem& p : recurrence_forms(length, 8)) {
    if (p.decay != GateForm::token) continue;
    SCOPED_TRACE(describe(p));
    RecurrenceSample it(p, 0.5, true);
    const auto sums = [&](Index chunk) {
      it.problem.chunk = chunk;
      const Tensor gradient = it.run().gradients[3];
      std::vector<double> all(std::size_t(p.heads) + 1, 0.0);  // of each head; the largest of all
      for (Index i = 0; i < gradient.size(); ++i) {
        const double g = gradient.read()[std::size_t(i)];
        all[std::size_t(i % p.heads)] += g;
        all.back() = std::max(all.back(), std::abs(g));
      }
      return all;
    };
    const auto alone = sums(1), chunked = sums(64);
    for (std::size_t h = 0; h + 1 < alone.size(); ++h)
      EXPECT_NEAR(alone[h], chunked[h], (in_double ? 1e-13 : 6e-6) * alone.back()) << "head " << h;
  }
}

TEST(Recurrence, any_number_of_threads_gives_the_same_bits) {
  for (const RecurrenceProblem& p : recurrence_forms(150)) {
    const RecurrenceSample it(p);
    core::set_threads(1);
    const auto alone = it.run();
    core::set_threads(3);
    const auto together = it.run();
    core::set_threads(0);
    EXPECT_TRUE(same_bits(alone.out.read(), together.out.read()));
    for (std::size_t i = 0; i < alone.gradients.size(); ++i)
      EXPECT_TRUE(same_bits(alone.gradients[i].read(), together.gradients[i].read()));
  }
}

// Tokens [first, first + count) of the only sequence.
RecurrenceSample cut(const RecurrenceSample& whole, Index first, Index count) {
  RecurrenceSample part = whole;
  part.problem.sequences = Sequences::self(1, count, true);
  for (Tensor* x : {&part.q, &part.k, &part.v, &part.decay, &part.write, &part.erase})
    if (x->size() > 0 && x->shape().rank() == 2) *x = x->rows(first, count);
  return part;
}

TEST(Recurrence, two_segments_with_the_state_carried_are_one_sequence) {
  for (RecurrenceProblem p : recurrence_forms(150)) {
    SCOPED_TRACE(describe(p));
    p.sequences.batch = 1;
    const RecurrenceSample whole(p);
    const auto all = whole.run();
    const auto first = cut(whole, 0, 90).run();
    RecurrenceSample second = cut(whole, 90, 60);
    second.start = first.final;
    const auto rest = second.run();
    const double close = in_double ? 1e-12 : 1e-5;
    EXPECT_LE(error_of(first.out.read(), tests::in_double(all.out.rows(0, 90).read())), close);
    EXPECT_LE(error_of(rest.out.read(), tests::in_double(all.out.rows(90, 60).read())), close);
    EXPECT_LE(error_of(rest.final.read(), tests::in_double(all.final.read())), close);
  }
}

TEST(Recurrence, equal_columns_give_what_one_number_gives) {
  for (const bool erases : {false, true}) {
    RecurrenceProblem p = recurrence_forms(100)[erases ? 5 : 1];
    p.decay = GateForm::token;
    RecurrenceSample one(p, 2);
    RecurrenceSample columns = one;
    columns.problem.decay = GateForm::column;
    columns.decay = Tensor({200, p.heads * p.width});
    for (Index i = 0; i < columns.decay.size(); ++i)
      columns.decay.write()[std::size_t(i)] = one.decay.read()[std::size_t(i / p.width)];
    const auto a = one.run(), b = columns.run();
    EXPECT_LE(error_of(b.out.read(), tests::in_double(a.out.read())), in_double ? 1e-12 : 1e-5);
    EXPECT_LE(error_of(b.gradients[1].read(), tests::in_double(a.gradients[1].read())),
              in_double ? 1e-12 : 1e-5);
  }
}

TEST(Recurrence, after_a_decay_of_40_a_sequence_is_as_if_it_began_there) {
  RecurrenceProblem p = recurrence_forms(100)[5];
  p.sequences.batch = 1;
  RecurrenceSample it(p);
  for (Index h = 0; h < p.heads; ++h) it.decay.write()[std::size_t(70 * p.heads + h)] = -40;
  const auto whole = it.run(), fresh = cut(it, 70, 30).run();
  EXPECT_LE(error_of(whole.out.rows(70, 30).read(), tests::in_double(fresh.out.read())),
            in_double ? 1e-12 : 1e-5);
}

// One head without convolution or gates: keys given, strength 1.
RecurrenceSample memory_of(const std::vector<Index>& keys, Index width) {
  const RecurrenceProblem p{.sequences = Sequences::self(1, Index(keys.size()), true),
                            .width = width,
                            .write = GateForm::token,
                            .erase = GateForm::token};
  RecurrenceSample it(p);
  it.q = it.k = Tensor({Index(keys.size()), width}, 0);
  for (std::size_t t = 0; t < keys.size(); ++t)
    it.k.write()[t * std::size_t(width) + std::size_t(keys[t])] = 1;
  std::ranges::fill(it.write.write(), Real(1));
  std::ranges::fill(it.erase.write(), Real(1));
  return it;
}

TEST(Recurrence, a_key_gives_back_the_last_value_that_was_written_to_it) {
  constexpr Index width = 5;
  RecurrenceSample it = memory_of({0, 1, 2, 3, 4, 1, 1, 3, 0}, width);
  const Tensor values = it.v;
  const std::vector<Index> last{8, 6, 2, 7, 4};
  for (Index key = 0; key < width; ++key) {
    it.q = Tensor({9, width}, 0);
    it.q.write()[std::size_t(8 * width + key)] = 1;
    EXPECT_LE(error_of(it.run().out.rows(8, 1).read(),
                       tests::in_double(values.rows(last[std::size_t(key)], 1).read())),
              10 * tests::epsilon);
  }
}

TEST(Recurrence, erasing_up_to_twice_never_lets_a_state_grow) {
  RecurrenceProblem p = recurrence_forms(80)[4];
  RecurrenceSample it(p, 0, true);
  std::ranges::fill(it.write.write(), Real(0));
  for (const Real strength : {Real(0.5), Real(1), Real(2)}) {
    std::ranges::fill(it.erase.write(), strength);
    double before = 0, after = 0;
    const Tensor last = it.run().final;
    for (const Real x : it.start.read()) before += double(x) * x;
    for (const Real x : last.read()) after += double(x) * x;
    EXPECT_LE(after, before * (1 + 100 * tests::epsilon)) << strength;
  }
}

TEST(Recurrence, refuses_gates_of_another_shape_and_sequences_that_read_ahead) {
  RecurrenceSample it(recurrence_forms(10)[5]);
  it.decay = Tensor({20, 3}, 0);
  EXPECT_ANY_THROW(it.run());
  RecurrenceSample other(recurrence_forms(10)[5]);
  other.problem.sequences.causal = false;
  EXPECT_ANY_THROW(other.run());
}

}  // namespace
}  // namespace weft::layers::recurrence_contract_test
