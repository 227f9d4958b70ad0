#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "layers/star/ring.h"
#include "layers/star/star_stack.h"
#include "tests/closeness.h"
#include "tests/layers/star/naive_star.h"
#include "tests/random_values.h"

namespace weft::layers::star_stack_contract_test {
namespace {

using tests::random_tensor;

Sequences padded(Index length, std::vector<Index> real) {
  Sequences sequences = Sequences::self(Index(real.size()), length, false);
  sequences.key_lengths = std::make_shared<const std::vector<Index>>(std::move(real));
  return sequences;
}

std::vector<StarSettings> every_star() {
  std::vector<StarSettings> all;
  for (const StarRing ring : {StarRing::open, StarRing::cyclic, StarRing::zero})
    for (const StarNorm norm : {StarNorm::post, StarNorm::reference})
      for (const bool tie : {false, true}) all.push_back({ring, norm, tie});
  return all;
}

struct SampleStar {
  explicit SampleStar(const StarSettings& s, StarStack::Shape form = {3, 6, 2})
      : settings(s), shape(form), star(form, s), drawn(star) {}

  StarSettings settings;
  StarStack::Shape shape;
  StarStack star;
  DrawnWeights<StarStack> drawn;
};

TEST(Ring, reads_two_satellites_when_there_are_only_two_and_one_when_there_is_one) {
  for (const StarRing ring : {StarRing::open, StarRing::cyclic}) {
    const Neighbours alone = neighbours_of(ring, 0, 1);
    EXPECT_EQ(alone.left, Neighbours::nobody);
    EXPECT_EQ(alone.right, Neighbours::nobody);
    for (const Index i : {Index(0), Index(1)}) {
      const Neighbours of_two = neighbours_of(ring, i, 2);
      EXPECT_EQ(std::max(of_two.left, of_two.right), 1 - i);
      EXPECT_EQ(std::min(of_two.left, of_two.right), Neighbours::nobody);
    }
  }
  EXPECT_EQ(neighbours_of(StarRing::cyclic, 0, 3).left, 2);
  EXPECT_EQ(neighbours_of(StarRing::cyclic, 2, 3).right, 0);
  EXPECT_EQ(neighbours_of(StarRing::zero, 0, 1).left, Neighbours::zeros);
  EXPECT_EQ(neighbours_of(StarRing::zero, 2, 3).right, Neighbours::zeros);
}

TEST(StarStack, follows_its_formulas_at_every_length_and_padding_is_outside_the_ring) {
  const std::vector<Index> real = {5, 1, 2, 3, 4};
  constexpr Index length = 6, width = 6;
  for (const StarSettings& settings : every_star()) {
    SCOPED_TRACE(core::message_of(int(settings.ring), int(settings.norm), settings.tie));
    const SampleStar it(settings);
    const Tensor x = random_tensor({Index(real.size()) * length, width}, 3);
    const auto [h, s] = it.star.run(Pass(), Var(x), padded(length, real), false);
    const NaiveStar naive(it.shape, settings, it.drawn.weights());
    for (std::size_t b = 0; b < real.size(); ++b) {
      Grid own(real[b], width);
      for (Index i = 0; i < own.rows; ++i)
        for (Index c = 0; c < width; ++c)
          own.at(i, c) = x.read()[std::size_t((Index(b) * length + i) * width + c)];
      const Grid expected = naive.run(own);
      std::vector<Real> actual(s.value().data() + Index(b) * width,
                               s.value().data() + Index(b + 1) * width);
      const Real* rows = h.value().data() + Index(b) * length * width;
      actual.insert(actual.end(), rows, rows + real[b] * width);
      tests::expect_close(actual, expected.numbers, 2000 * tests::epsilon);
    }
  }
}

TEST(StarStack,
     gives_the_same_bits_at_any_number_of_threads_and_the_same_gradient_when_cycles_run_again) {
  const SampleStar it({});
  const Tensor x = random_tensor({3 * 150, 6}, 3);
  const Sequences sequences = padded(150, {150, 7, 131});
  const auto swept = [&](bool recompute, Index threads) {
    core::set_threads(threads);
    autograd::Tape tape;
    autograd::Journal journal;
    const Var in = tape.watch(x);
    const auto [h, s] = it.star.run(Pass(tape, core::Rng(1), journal), in, sequences, recompute);
    const std::vector<Index> real = {150, 7, 131};
    const Var out = autograd::concat({autograd::mean_rows(h, real), s});
    tape.sweep(out, random_tensor(out.shape(), 9));
    const Tensor dx = tape.gradient(in);
    std::vector<Real> all(out.value().read().begin(), out.value().read().end());
    all.insert(all.end(), dx.read().begin(), dx.read().end());
    core::set_threads(0);
    return all;
  };
  const std::vector<Real> expected = swept(false, 1);
  EXPECT_EQ(swept(false, 3), expected);
  const std::vector<Real> again = swept(true, 1);
  EXPECT_EQ(swept(true, 3), again);
  // The terms of a token's gradient are added in another order.
  EXPECT_TRUE(std::equal(again.begin(), again.begin() + 3 * 2 * 6, expected.begin()));
  tests::expect_close(again, std::vector<double>(expected.begin(), expected.end()),
                      100 * tests::epsilon);
}

TEST(StarStack, costs_what_its_kernels_count_and_grows_linearly_with_the_length) {
  for (const StarSettings& settings : every_star()) {
    SCOPED_TRACE(core::message_of(int(settings.ring), int(settings.norm), settings.tie));
    const SampleStar it(settings);
    for (const Sequences& sequences :
         {Sequences::self(2, 40, false), padded(40, {40, 1}), padded(40, {2, 33})}) {
      const Tensor x = random_tensor({80, 6}, 3);
      core::Counters& counters = core::counters();
      const Index pairs = counters.scored_pairs;
      it.star.run(Pass(), Var(x), sequences, false);
      EXPECT_EQ(counters.scored_pairs - pairs, it.star.cost(sequences).scored_pairs);
    }
    const Index heads = it.shape.heads, cycles = it.shape.cycles;
    const auto pairs = [&](Index n) {
      return it.star.cost(Sequences::self(1, n, false)).scored_pairs;
    };
    const Index ends = settings.ring == StarRing::open ? 2 : 0;
    EXPECT_EQ(pairs(100), heads * cycles * (5 * 100 - ends + 100 + 1));
    EXPECT_EQ(pairs(6400) - pairs(3200), 32 * (pairs(200) - pairs(100)));
  }
}

TEST(StarStack, multiplies_each_token_with_eight_squares_of_the_width_in_a_cycle) {
  const SampleStar it({}, {3, 6, 2}), tied({.tie = true}, {3, 6, 2});
  EXPECT_EQ(it.star.weights(), 3 * 8 * 36);
  EXPECT_EQ(tied.star.weights(), 8 * 36);
  const Sequences sequences = Sequences::self(2, 20, false);
  core::Counters& counters = core::counters();
  const Index before = counters.flops;
  it.star.run(Pass(), Var(random_tensor({40, 6}, 1)), sequences, false);
  const double products = double(counters.flops - before - it.star.cost(sequences).flops);
  EXPECT_NEAR(products, 2.0 * 40 * it.star.rows_per_token(20) * double(it.star.weights()), 1e-6);
  EXPECT_NEAR(it.star.rows_per_token(20) * double(it.star.weights()),
              tied.star.rows_per_token(20) * double(tied.star.weights()), 1e-9);
}

}  // namespace
}  // namespace weft::layers::star_stack_contract_test
