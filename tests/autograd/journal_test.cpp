#include "autograd/journal.h"

#include <limits>

#include "core/error.h"

namespace weft::autograd::journal_test {
namespace {

using core::Real;
using core::Tensor;

/// Follows the mean of what was proposed: statistics are a sum and a count.
State running_mean() {
  return State(Tensor({1}, 0), [](std::span<Real> value, std::span<const Real> statistics) {
    value[0] = Real(0.5) * value[0] + Real(0.5) * statistics[0] / statistics[1];
  });
}

Tensor statistics(Real sum, Real count) {
  Tensor t({2}, sum);
  t.write()[1] = count;
  return t;
}

TEST(Journal, adds_proposals_up_and_applies_the_rule_once) {
  State state = running_mean();
  Journal journal;
  journal.propose(state, statistics(6, 2));
  journal.propose(state, statistics(4, 3));
  EXPECT_EQ(core::scalar(state.value()), 0);
  journal.commit();
  EXPECT_EQ(core::scalar(state.value()), 1);
  journal.commit();
  EXPECT_EQ(core::scalar(state.value()), 1);
}

TEST(Journal, adds_proposals_in_the_order_they_came) {
  const Real large = Real(1) / std::numeric_limits<Real>::epsilon() * 4;
  const auto total = [&](const std::vector<Real>& parts) {
    State sum(Tensor({1}, 0), [](auto value, auto s) { value[0] = s[0]; });
    Journal journal;
    for (const Real part : parts) journal.propose(sum, Tensor({1}, part));
    journal.commit();
    return core::scalar(sum.value());
  };
  EXPECT_EQ(total({large, 1, -large}), 0);
  EXPECT_EQ(total({large, -large, 1}), 1);
}

TEST(Journal, keeps_states_apart_and_commits_in_the_order_of_first_proposal) {
  std::string order;
  State a(Tensor({1}, 0), [&](auto, auto) { order += 'a'; });
  State b(Tensor({1}, 0), [&](auto, auto) { order += 'b'; });
  Journal journal;
  journal.propose(b, Tensor({1}, 1));
  journal.propose(a, Tensor({1}, 1));
  journal.propose(b, Tensor({1}, 1));
  journal.commit();
  EXPECT_EQ(order, "ba");
}

TEST(Journal, leaves_the_proposed_tensor_alone) {
  State state = running_mean();
  Journal journal;
  const Tensor mine = statistics(6, 2);
  journal.propose(state, mine);
  journal.propose(state, mine);
  EXPECT_EQ(mine.read()[0], 6);
}

TEST(Journal, of_a_skipped_step_changes_nothing) {
  State state = running_mean();
  {
    Journal journal;
    journal.propose(state, statistics(6, 2));
  }
  EXPECT_EQ(core::scalar(state.value()), 0);
}

TEST(Journal, refuses_statistics_of_two_shapes_for_one_state) {
  State state = running_mean();
  Journal journal;
  journal.propose(state, statistics(6, 2));
  EXPECT_THROW(journal.propose(state, Tensor({3}, 1)), core::Error);
}

TEST(State, writes_its_own_copy) {
  State state = running_mean();
  const Tensor before = state.value();
  state.absorb(statistics(8, 2));
  EXPECT_EQ(core::scalar(before), 0);
  EXPECT_EQ(core::scalar(state.value()), 2);
  const Tensor absorbed = state.value();
  state.writable()[0] = 7;
  EXPECT_EQ(core::scalar(absorbed), 2);
  EXPECT_EQ(core::scalar(state.value()), 7);
}

}  // namespace
}  // namespace weft::autograd::journal_test
