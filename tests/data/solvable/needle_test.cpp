#include "data/solvable/needle.h"

#include <algorithm>
#include <set>

#include "tests/data/given_data.h"
#include "tests/data/refusal.h"
#include "tests/data/solvable/solver_score.h"

namespace weft::data::needle_test {
namespace {

constexpr Token mark = 26;

/// Goes back to the question's mark, then finds the same mark and key earlier.
Token recalled(std::span<const Token> tokens) {
  std::size_t question = tokens.size() - 1;
  while (question > 0 && tokens[question] != mark) --question;
  for (std::size_t i = 0; i < question; ++i)
    if (tokens[i] == mark && tokens[i + 1] == tokens[question + 1])
      return tokens[i + tokens.size() - question];
  return 5;
}

TEST(Needle, an_exact_solver_is_always_right_and_without_its_context_guesses) {
  for (const Index length : {25, 128, 131}) {
    const Needle data({}, length, 32, 1);
    EXPECT_EQ(data.mark(), mark);
    EXPECT_EQ(solver_score(data, recalled), 1.0);
    EXPECT_NEAR(solver_score(data, recalled, 1), *data.chance(), guess_error(1.0 / 26, 256 * 3));
  }
}

TEST(Needle, hides_needles_of_different_keys_in_the_chain_and_asks_for_one) {
  const Needle data({.needles = 3, .payload = 2}, 43, 16, 1);
  const MarkovChain chain(26, 4, core::Rng(1).fold("recall source"));
  const Batch batch = data.training(0);
  for (std::size_t row = 0; row < 16; ++row) {
    const auto inputs = batch.inputs.read().subspan(row * 43, 43);
    const auto targets = batch.targets.read().subspan(row * 43, 43);
    std::set<Token> keys;
    for (std::size_t t = 0; t < 39; ++t) {
      if (inputs[t] == mark) {
        EXPECT_EQ(t % 4, 0u);
        keys.insert(inputs[t + 1]);
        t += 3;
      } else if (t > 0) {
        const auto next = chain.successors(inputs[t - 1]);
        EXPECT_NE(std::ranges::find(next, inputs[t]), next.end());
      }
    }
    EXPECT_EQ(keys.size(), 3u);
    EXPECT_EQ(inputs[39], mark);
    EXPECT_TRUE(keys.contains(inputs[40]));
    EXPECT_EQ(inputs[41], targets[40]);
    EXPECT_EQ(std::ranges::count_if(targets, [](Token t) { return t >= 0; }), 2);
  }
}

TEST(Needle, asks_for_a_needle_at_any_depth_and_knows_how_far_back_it_is) {
  const Needle data({.needles = 2}, 105, 200, 1);
  const Batch batch = data.training(0);
  std::vector<int> used(10, 0);
  for (std::size_t row = 0; row < 200; ++row) {
    const auto inputs = batch.inputs.read().subspan(row * 105, 105);
    const auto distances = batch.distances.read().subspan(row * 105, 105);
    const auto distance = std::size_t(distances[101]);  // of the question's key, at 101
    EXPECT_EQ(distances[102], distances[101]);
    EXPECT_EQ(inputs[101 - distance], inputs[101]);
    ++used[(100 - distance) / 10];
  }
  for (const int times : used) EXPECT_NEAR(times, 20, 17);  // four deviations
}

TEST(NeedleSettings, report_what_does_not_fit) {
  const auto needle = [](Index needles, Index keys, Index length) {
    return GivenData(
        {{"kind", string("needle")}, {"needles", needles}, {"keys", keys}, {"length", length}});
  };
  EXPECT_EQ(needle(4, 64, 25).problems(), Keys{});
  EXPECT_EQ(needle(4, 64, 24).problems(), Keys{"length"});
  EXPECT_EQ(needle(4, 3, 128).problems(), Keys{"needles"});
  expect_says(refusal_of([] { Needle({}, 24, 1, 1); }), core::Fault::usage, "at least 25");
}

}  // namespace
}  // namespace weft::data::needle_test
