#include "data/solvable/duplicate.h"

#include <algorithm>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"

namespace weft::data::duplicate_test {
namespace {

TEST(Duplicate, repeats_a_word_and_scores_the_copy) {
  for (const auto& [word, length] : {std::pair{0, 16}, {7, 16}, {3, 16}, {1, 4}}) {
    const Duplicate data({.word = word}, length, 3, 1);
    const Index half = (word > 0 ? word : length / 2 - 1) + 1;
    EXPECT_EQ(data.word(), half - 1);
    EXPECT_EQ(data.vocabulary(), 128);
    const Batch batch = data.training(5);
    EXPECT_EQ(batch.inputs.shape(), (core::Shape{3, length}));
    for (Index row = 0; row < 3; ++row) {
      const auto inputs = batch.inputs.read().subspan(std::size_t(row * length));
      const auto targets = batch.targets.read().subspan(std::size_t(row * length));
      EXPECT_EQ(inputs[0], 0);
      for (Index i = 0; i < half; ++i) {
        EXPECT_EQ(inputs[std::size_t(i)], inputs[std::size_t(half + i)]);
        EXPECT_TRUE(i == 0 || inputs[std::size_t(i)] >= 1);
        EXPECT_LE(inputs[std::size_t(i)], 127);
      }
      for (Index t = 0; t < length; ++t) {
        const bool scored = t + 1 >= half && t + 1 < 2 * half;
        EXPECT_EQ(targets[std::size_t(t)], scored ? inputs[std::size_t(t + 1)] : core::no_target);
      }
    }
  }
}

TEST(Duplicate, uses_every_symbol_the_highest_included) {
  const Duplicate data({.symbols = 5}, 64, 8, 1);
  const Batch batch = data.training(0);
  const std::set<Token> seen(batch.inputs.read().begin(), batch.inputs.read().end());
  EXPECT_EQ(seen, (std::set<Token>{0, 1, 2, 3, 4, 5}));
}

TEST(Duplicate, a_batch_depends_on_seed_and_number_and_held_out_ones_on_neither) {
  const Duplicate one({.held_out = 5}, 32, 4, 1), again({.held_out = 5}, 32, 4, 1),
      other({.held_out = 5}, 32, 4, 2);
  EXPECT_TRUE(same(one.training(3), again.training(3)));
  EXPECT_FALSE(same(one.training(3), one.training(4)));
  EXPECT_FALSE(same(one.training(3), other.training(3)));
  ASSERT_EQ(one.evaluation_batches(Split::validation, 32), 2);
  Index scored = 0;
  for (Index i = 0; i < 2; ++i) {
    const Batch batch = one.evaluation(Split::validation, i, 32);
    EXPECT_TRUE(same(batch, other.evaluation(Split::validation, i, 32)));
    EXPECT_FALSE(same(batch, one.evaluation(Split::test, i, 32)));
    scored += std::ranges::count_if(batch.targets.read(), [](Token t) { return t >= 0; });
  }
  EXPECT_EQ(scored, 5 * 16);
  EXPECT_EQ(one.floor_bits(Split::validation), 0.0);
  EXPECT_EQ(one.scored_part(), "second half");
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  EXPECT_NE(one.fingerprint(), Duplicate({.word = 7, .held_out = 5}, 32, 4, 1).fingerprint());
}

TEST(Duplicate, every_symbol_prints_and_reads_back) {
  const Duplicate data({}, 32, 1, 1);
  const auto tokens = data.training(0).inputs;
  const std::vector<Token> ids(tokens.read().begin(), tokens.read().end());
  EXPECT_EQ(data.encode(data.decode(ids)), ids);
}

TEST(Duplicate, refuses_a_word_that_does_not_fit_twice) {
  EXPECT_THROW(Duplicate({.word = 8}, 16, 1, 1), core::Error);
  EXPECT_THROW(Duplicate({}, 3, 1, 1), core::Error);
}

TEST(DuplicateSettings, report_words_that_do_not_fit) {
  const auto duplicate = [](Index word, Index length) {
    return GivenData({{"kind", string("duplicate")}, {"word", word}, {"length", length}});
  };
  EXPECT_EQ(duplicate(0, 128).problems(), Keys{});
  EXPECT_EQ(duplicate(64, 128).problems(), Keys{"length"});
  EXPECT_EQ(duplicate(64, 130).problems(), Keys{});
  EXPECT_FALSE(duplicate(0, 128).lists("shortest"));
}

}  // namespace
}  // namespace weft::data::duplicate_test
