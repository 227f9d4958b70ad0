#include "data/solvable/copying.h"

#include <algorithm>

#include "tests/data/given_data.h"
#include "tests/data/refusal.h"
#include "tests/data/solvable/solver_score.h"

namespace weft::data::copying_test {
namespace {

/// The symbol whose turn it is: as many were asked for as there are asks before this one.
Token symbol_in_turn(std::span<const Token> tokens) {
  auto turn = std::ranges::count(tokens, 1) - 1;
  for (const Token token : tokens)
    if (token >= 2 && turn-- == 0) return token;
  return 7;
}

TEST(Copying, an_exact_solver_is_always_right_and_without_its_context_guesses) {
  for (const Index length : {32, 100}) {
    const Copying data({}, length, 32, 1);
    EXPECT_EQ(solver_score(data, symbol_in_turn), 1.0);
    EXPECT_NEAR(solver_score(data, symbol_in_turn, 1), *data.chance(),
                guess_error(1.0 / 14, 256 * 16));
  }
}

TEST(Copying, symbols_lie_anywhere_among_the_blanks) {
  const Copying data({.symbols = 3, .word = 4}, 24, 64, 1);
  const Batch batch = data.training(0);
  std::vector<int> used(20, 0);
  for (std::size_t row = 0; row < 64; ++row) {
    const auto inputs = batch.inputs.read().subspan(row * 24, 24);
    const auto targets = batch.targets.read().subspan(row * 24, 24);
    const auto distances = batch.distances.read().subspan(row * 24, 24);
    for (std::size_t t = 0; t < 24; ++t) {
      EXPECT_EQ(targets[t] != core::no_target, t >= 20);
      if (t < 20) {
        used[t] += inputs[t] >= 2;
        EXPECT_NE(inputs[t], 1);
        EXPECT_LE(inputs[t], 4);
      } else {
        EXPECT_EQ(inputs[t], 1);
        EXPECT_EQ(inputs[t - std::size_t(distances[t])], targets[t]);
      }
    }
  }
  for (const int times : used) EXPECT_GT(times, 0);
}

TEST(CopyingSettings, report_words_that_do_not_fit) {
  const auto copying = [](Index word, Index length) {
    return GivenData({{"kind", string("copying")}, {"word", word}, {"length", length}});
  };
  EXPECT_EQ(copying(16, 32).problems(), Keys{});
  EXPECT_EQ(copying(16, 31).problems(), Keys{"length"});
  expect_says(refusal_of([] { Copying({.word = 5}, 9, 1, 1); }), core::Fault::usage, "at least 10");
}

}  // namespace
}  // namespace weft::data::copying_test
