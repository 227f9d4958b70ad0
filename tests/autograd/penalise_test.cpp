#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::autograd::penalise_test {
namespace {

TEST(Penalise, charges_each_pass_once_even_when_a_part_is_run_again) {
  Journal journal;
  for (const std::uint64_t micro : {0, 1}) {
    Tape tape;
    const Pass pass(tape, core::Rng(micro), journal);
    const auto part = [](const Pass& p, const Var& in) { return penalise(p, in, sum(in)); };
    const Var x = tape.watch(Tensor({2}, Real(1.5)));
    const Var y = recompute(pass, part, x);
    const Var total = penalties(pass);
    EXPECT_EQ(core::scalar(total.value()), 3);
    EXPECT_EQ(penalties(pass).value().size(), 0) << "taken once";
    tape.sweep(add(sum(y), total), Tensor({1}, 2));
    EXPECT_EQ(tape.gradient(x).read()[0], 4) << "2 from the sum, 2 from the penalty";
    EXPECT_FALSE(journal.has_charges()) << "the replay charged again";
  }
}

TEST(Penalise, has_no_effect_without_a_loss_to_join) {
  Journal journal;
  Tape tape;
  const Pass pass(tape, core::Rng(1), journal);
  const Var x = tape.watch(Tensor({2}, 1));
  tape.sweep(sum(penalise(pass, x, sum(x))), Tensor({1}, 1));
  EXPECT_EQ(tape.gradient(x).read()[0], 1);
}

TEST(Penalise, charges_nothing_in_evaluation) {
  const Var x(Tensor({2}, 1));
  EXPECT_TRUE(penalise(Pass(), x, sum(x)).is(x));
  EXPECT_EQ(penalties(Pass()).value().size(), 0);
}

}  // namespace
}  // namespace weft::autograd::penalise_test
