#include "autograd/ops.h"
#include "core/error.h"

namespace weft::autograd::jitter_test {
namespace {

TEST(Jitter, multiplies_evenly_around_one_in_training_and_by_nothing_in_evaluation) {
  Tape tape;
  Journal journal;
  const Pass pass(tape, core::Rng(1), journal);
  const Var x(Tensor({4000}, 1));
  const Tensor y = jitter(pass, x, 0.25).value();
  double sum = 0;
  for (const Real v : y.read()) {
    EXPECT_GE(v, Real(0.75));
    EXPECT_LE(v, Real(1.25));
    sum += double(v);
  }
  EXPECT_NEAR(sum / 4000, 1, 0.01);
  EXPECT_LT(*std::ranges::min_element(y.read()), Real(0.76));
  EXPECT_TRUE(jitter(Pass(), x, 0.25).is(x));
  EXPECT_TRUE(jitter(pass, x, 0).is(x));
  EXPECT_THROW(jitter(pass, x, 1.5), core::Error);
}

}  // namespace
}  // namespace weft::autograd::jitter_test
