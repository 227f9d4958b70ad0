#include "data/solvable/group.h"

#include <algorithm>
#include <array>

#include "tests/data/given_data.h"
#include "tests/data/solvable/solver_score.h"

namespace weft::data::group_test {
namespace {

/// Applies the permutations one after another to the things themselves.
template <std::size_t things>
Token composed(std::span<const Token> tokens) {
  std::array<int, things> start{}, state{};
  for (std::size_t i = 0; i < things; ++i) start[i] = state[i] = int(i);
  for (const Token token : tokens) {
    auto permutation = start;
    for (Token n = 0; n < token; ++n) std::ranges::next_permutation(permutation);
    for (int& thing : state) thing = permutation[std::size_t(thing)];
  }
  Token number = 0;
  for (auto each = start; each != state; std::ranges::next_permutation(each)) ++number;
  return number;
}

template <std::size_t things>
void expect_solved(GroupName name, double elements) {
  const Group data({.group = name, .held_out = 64}, 16, 32, 1);
  EXPECT_EQ(data.vocabulary(), Index(elements));
  EXPECT_EQ(data.chance(), 1 / elements);
  EXPECT_EQ(solver_score(data, composed<things>), 1.0);
  // The first product is its own token: all others are as likely as any.
  const double guessed = 1.0 / 16 + 15.0 / 16 / elements;
  EXPECT_NEAR(solver_score(data, composed<things>, 1), guessed, guess_error(guessed, 64 * 16));
}

TEST(Group, an_exact_solver_is_always_right_and_without_its_context_guesses) {
  expect_solved<2>(GroupName::z2, 2);
  expect_solved<3>(GroupName::s3, 6);
  expect_solved<5>(GroupName::s5, 120);
}

TEST(Group, of_two_things_is_parity) {
  const Group data({.group = GroupName::z2}, 20, 1, 1);
  const Batch batch = data.training(0);
  Token ones = 0;
  for (std::size_t t = 0; t < 20; ++t) {
    ones += batch.inputs.read()[t];
    EXPECT_EQ(batch.targets.read()[t], ones % 2);
  }
}

TEST(PermutationGroup, multiplies_as_permutations_follow_each_other) {
  const PermutationGroup group(3);  // 012, 021, 102, 120, 201, 210
  EXPECT_EQ(group.size(), 6);
  for (Token element = 0; element < 6; ++element) {
    EXPECT_EQ(group.product(0, element), element);
    EXPECT_EQ(group.product(element, 0), element);
  }
  EXPECT_EQ(group.product(1, 2), 4);  // 102, then 1 and 2 exchanged: 201
  EXPECT_EQ(group.product(2, 1), 3);
  EXPECT_EQ(group.product(3, 4), 0);
}

TEST(GroupSettings, name_the_group) {
  const GivenData group({{"kind", string("group")}, {"group", string("s5")}});
  EXPECT_EQ(group.problems(), Keys{});
  EXPECT_EQ(group.make(1, 1)->vocabulary(), 120);
  EXPECT_EQ(GivenData({{"kind", string("group")}, {"group", string("s4")}}).problems(),
            Keys{"group"});
}

}  // namespace
}  // namespace weft::data::group_test
