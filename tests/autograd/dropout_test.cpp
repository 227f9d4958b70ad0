#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::dropout_test {
namespace {

using tests::same_bits;

Tensor dropped(const Pass& pass, Index n, Real rate) {
  return dropout(pass, Var(Tensor({n}, 1)), rate).value();
}

Pass training_pass(Journal& journal, std::uint64_t seed) {
  Tape unused;
  return Pass(unused, core::Rng(seed), journal).without_tape();
}

TEST(Dropout, zeroes_the_asked_share_and_scales_the_rest) {
  Journal journal;
  constexpr Index n = 200001;
  for (const Real rate : {Real(0.1), Real(0.5), Real(0.9)}) {
    Index zeros = 0;
    const Tensor y = dropped(training_pass(journal, 1), n, rate);
    for (const Real v : y.read()) {
      zeros += v == 0;
      ASSERT_TRUE(v == 0 || v == 1 / (1 - rate));
    }
    const double deviation = std::sqrt(n * double(rate) * (1 - double(rate)));
    EXPECT_NEAR(double(zeros), n * double(rate), 4 * deviation);
  }
}

TEST(Dropout, masks_neighbours_independently) {
  Journal journal;
  constexpr Index n = 200000;
  const Tensor y = dropped(training_pass(journal, 1), n, Real(0.5));
  for (const std::size_t lag : {1u, 2u, 3u, 4u, 8u}) {
    double both = 0;
    for (std::size_t i = lag; i < std::size_t(n); ++i)
      both += y.read()[i] == 0 && y.read()[i - lag] == 0;
    EXPECT_NEAR(both, n / 4.0, 5 * std::sqrt(n * 3 / 16.0)) << "lag " << lag;
  }
}

TEST(Dropout, masks_the_gradient_as_it_masked_the_value) {
  for (const Shape& shape : {Shape{5}, Shape{7, 9}, Shape{300, 131}}) {
    const auto pulled = tests::pull_back(
        [](const Pass& pass, const std::vector<Var>& x) { return dropout(pass, x[0], Real(0.3)); },
        {Tensor(shape, 1)});
    for (std::size_t i = 0; i < pulled.value.read().size(); ++i)
      ASSERT_EQ(pulled.gradients[0].read()[i], pulled.upstream.read()[i] * pulled.value.read()[i]);
  }
}

TEST(Dropout, draws_the_same_mask_at_replay) {
  Tape tape, scratch;
  Journal journal;
  const Pass pass = Pass(tape, core::Rng(5), journal).at("layer");
  const Tensor first = dropped(pass, 1000, Real(0.5));
  EXPECT_TRUE(same_bits(dropped(pass.replayed_on(scratch), 1000, Real(0.5)).read(), first.read()));
  EXPECT_TRUE(same_bits(dropped(pass.without_tape(), 1000, Real(0.5)).read(), first.read()));
}

TEST(Dropout, draws_other_masks_at_other_places_and_steps) {
  Journal journal;
  const Tensor here = dropped(training_pass(journal, 1).at(0), 1000, Real(0.5));
  const Tensor there = dropped(training_pass(journal, 1).at(1), 1000, Real(0.5));
  const Tensor later = dropped(training_pass(journal, 2).at(0), 1000, Real(0.5));
  EXPECT_FALSE(same_bits(here.read(), there.read()));
  EXPECT_FALSE(same_bits(here.read(), later.read()));
}

TEST(Dropout, is_the_identity_in_evaluation_and_at_rate_zero) {
  Journal journal;
  const Var x(tests::random_tensor({9}, 1));
  EXPECT_TRUE(dropout(Pass(core::Rng(1)), x, Real(0.5)).is(x));
  EXPECT_TRUE(dropout(Pass(), x, Real(0.5)).is(x));
  EXPECT_TRUE(dropout(training_pass(journal, 1), x, 0).is(x));
}

TEST(Dropout, refuses_rates_outside_zero_to_one) {
  EXPECT_THROW(dropout(Pass(), Var(Tensor({2}, 1)), 1), core::Error);
  EXPECT_THROW(dropout(Pass(), Var(Tensor({2}, 1)), Real(-0.1)), core::Error);
}

}  // namespace
}  // namespace weft::autograd::dropout_test
