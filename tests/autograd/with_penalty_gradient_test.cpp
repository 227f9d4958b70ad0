#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd {
namespace {

TEST(WithPenalty, passes_the_gradient_of_its_value_through) {
  tests::check_gradient("with_penalty",
                        [](const Pass&, const std::vector<Var>& in) {
                          return scale(with_penalty(in[0], Var(Tensor({1}, 5)), 2), 3);
                        },
                        {tests::random_tensor({3, 4}, 1)});
}

TEST(WithPenalty, adds_the_gradient_of_share_times_penalty_whatever_comes_from_above) {
  Tape tape;
  const Var x = tape.watch(tests::random_tensor({6}, 1));
  const Var y = with_penalty(scale(x, 2), mean(x), Real(0.5));
  tape.sweep(scale(y, 10), Tensor({6}, 1));
  for (const Real d : tape.gradient(x).read()) EXPECT_DOUBLE_EQ(double(d), 20 + 0.5 / 6);
}

TEST(WithPenalty, reaches_what_a_replay_runs_again_once) {
  Tape tape;
  Journal journal;
  const Pass pass(tape, core::Rng(1), journal);
  const Var x = tape.watch(tests::random_tensor({6}, 1));
  const Var y = recompute(
      pass, [](const Pass&, const Var& in) { return with_penalty(scale(in, 2), sum(in), 3); }, x);
  tape.sweep(y, Tensor({6}, 1));
  for (const Real d : tape.gradient(x).read()) EXPECT_DOUBLE_EQ(double(d), 2 + 3);
}

}  // namespace
}  // namespace weft::autograd
