#include <cmath>

#include "autograd/ops.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/scope.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::reversible_test {
namespace {

using tests::pull_back;
using tests::random_tensor;
using Inputs = std::vector<Var>;

Sublayer scaled(Real factor) {
  return [factor](const Pass&, const Var& x) { return scale(x, factor); };
}

TEST(Reversible, adds_each_branch_of_one_stream_to_the_other) {
  const Tensor x = random_tensor({3, 4}, 1);
  const std::vector<Sublayer> branches = {scaled(2), scaled(3), scaled(-1), scaled(Real(0.5))};
  const Var average = reversible(Pass(), branches, Var(x), Var(x), StreamOutput::average);
  const Var both = reversible(Pass(), branches, Var(x), Var(x), StreamOutput::concat);
  ASSERT_EQ(both.shape(), (Shape{3, 8}));
  for (Index r = 0; r < 3; ++r)
    for (Index c = 0; c < 4; ++c) {
      const double v = x.read()[std::size_t(4 * r + c)];
      double y1 = v + 2 * v, y2 = v + 3 * y1;
      y1 -= y2;
      y2 += y1 / 2;
      EXPECT_NEAR(both.value().read()[std::size_t(8 * r + c)], y1, 1e-5);
      EXPECT_NEAR(both.value().read()[std::size_t(8 * r + 4 + c)], y2, 1e-5);
      EXPECT_NEAR(average.value().read()[std::size_t(4 * r + c)], (y1 + y2) / 2, 1e-5);
    }
}

TEST(Reversible, keeps_two_streams_and_its_output_whatever_the_depth) {
  const Tensor x = random_tensor({500, 24}, 1);
  const Index stream = x.size() * Index(sizeof(Real));
  for (const std::size_t depth : {1, 10}) {
    Tape tape;
    Journal journal;
    const Pass pass(tape, core::Rng(1), journal);
    const Var in = tape.watch(x);
    const Index before = core::memory_use().live;
    const std::vector<Sublayer> branches(2 * depth, scaled(Real(0.1)));
    const Var y = reversible(pass, branches, in, in, StreamOutput::average);
    EXPECT_LE(core::memory_use().live - before, 3 * stream * 9 / 8);
    const Index copied = core::counters().detaches;
    core::reset_memory_peak();
    const Index held = core::memory_use().live;
    tape.sweep(y, Tensor(y.shape(), 1));
    EXPECT_LE(core::memory_use().peak - held, 5 * stream * 9 / 8) << depth << " blocks";
    EXPECT_EQ(core::counters().detaches, copied);
  }
}

TEST(Reversible, reads_decisions_back_and_proposes_once) {
  Journal journal;
  int made = 0;
  State seen(Tensor({1}, 0), [](auto value, auto sums) { value[0] += sums[0]; });
  const Sublayer branch = [&](const Pass& pass, const Var& in) {
    const auto factor = pass.decide("factor", [&] { return ++made; });
    pass.propose(seen, Tensor({1}, 1));
    return scale(in, Real(*factor));
  };
  pull_back(
      [&](const Pass& p, const Inputs& in) {
        const auto at = [&](int place) {
          return [&branch, place](const Pass& q, const Var& x) {
            return branch(q.at(std::uint64_t(place)), x);
          };
        };
        return reversible(p, {at(0), at(1), at(2), at(3)}, in[0], in[0], StreamOutput::average);
      },
      {random_tensor({3}, 1)}, journal);
  EXPECT_EQ(made, 4);
  journal.commit();
  EXPECT_EQ(core::scalar(seen.value()), 4);
}

TEST(Reversible, charges_penalties_inside_its_branches_once) {
  Journal journal;
  Tape tape;
  const Pass pass(tape, core::Rng(1), journal);
  const Sublayer priced = [](const Pass& p, const Var& in) {
    return scale(penalise(p, in, sum(in)), 0);
  };
  const Sublayer nothing = scaled(0);
  const Var x = tape.watch(Tensor({2}, 1));
  const Var y = reversible(pass, {priced, nothing}, x, x, StreamOutput::average);
  const Var total = penalties(pass);
  EXPECT_EQ(core::scalar(total.value()), 2);
  tape.sweep(add(sum(y), scale(total, Real(0.25))), Tensor({1}, 1));
  EXPECT_EQ(tape.gradient(x).read()[0], Real(1.25));
  EXPECT_FALSE(journal.has_charges());
}

TEST(Reversible, refuses_a_branch_that_changes_the_shape) {
  const Sublayer wider = [](const Pass&, const Var& x) { return concat({x, x}); };
  const Var x(Tensor({2, 3}, 1)), other(Tensor({2, 4}, 1));
  EXPECT_THROW(reversible(Pass(), {wider, wider}, x, x, StreamOutput::average), core::Error);
  EXPECT_THROW(reversible(Pass(), {scaled(1)}, x, other, StreamOutput::average), core::Error);
}

TEST(Reversible, lets_the_op_inside_be_named_when_something_is_not_finite) {
  Tape tape({.check_finite = true});
  Journal journal;
  const Sublayer bad = [](const Pass&, const Var& x) {
    const core::Scope scope("inner");
    return scale(x, Real(INFINITY));
  };
  try {
    const Var x = tape.watch(Tensor({2}, 1));
    reversible(Pass(tape, core::Rng(1), journal), {scaled(1), bad}, x, x, StreamOutput::average);
    FAIL() << "nothing was reported";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::diverged);
    EXPECT_NE(std::string(error.what()).find("op 'scale' in inner"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace weft::autograd::reversible_test
