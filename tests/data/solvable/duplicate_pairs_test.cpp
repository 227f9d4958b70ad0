#include <algorithm>
#include <set>

#include "data/solvable/duplicate.h"
#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"
#include "tests/data/refusal.h"

namespace weft::data::duplicate_pairs_test {
namespace {

TEST(DuplicatePairs, the_target_is_the_source_and_its_end) {
  const DuplicatePairs data(
      {.form = DuplicateForm::seq2seq, .shortest = 3, .word = 6, .symbols = 9}, 10, 5, 1);
  EXPECT_EQ(data.vocabulary(), 10);
  EXPECT_EQ(data.source_length(), 6);
  std::set<Index> lengths;
  for (Index number = 0; number < 20; ++number) {
    const Batch batch = data.training(number);
    ASSERT_EQ(batch.inputs.shape(), (core::Shape{5, 10}));
    ASSERT_EQ(batch.targets.shape(), (core::Shape{5, 10}));
    ASSERT_EQ(batch.sources.shape(), (core::Shape{5, 6}));
    for (std::size_t row = 0; row < 5; ++row) {
      const auto word = std::size_t((*batch.source_lengths)[row]);
      lengths.insert(Index(word));
      const auto source = batch.sources.read().subspan(6 * row, word);
      const auto inputs = batch.inputs.read().subspan(10 * row, 10);
      const auto targets = batch.targets.read().subspan(10 * row, 10);
      EXPECT_EQ(inputs[0], *data.boundary());
      EXPECT_EQ(targets[word], *data.boundary());
      EXPECT_TRUE(std::ranges::equal(inputs.subspan(1, word), source));
      EXPECT_TRUE(std::ranges::equal(targets.first(word), source));
      EXPECT_TRUE(std::ranges::all_of(source, [](Token t) { return t >= 1 && t <= 9; }));
      EXPECT_EQ(std::ranges::count(targets, core::no_target), std::ptrdiff_t(10 - word - 1));
    }
  }
  EXPECT_EQ(lengths, (std::set<Index>{3, 4, 5, 6}));
}

TEST(DuplicatePairs, a_batch_depends_on_seed_and_number_and_held_out_ones_on_neither) {
  const DuplicateSettings settings{.form = DuplicateForm::seq2seq, .held_out = 5};
  const DuplicatePairs one(settings, 16, 4, 1), again(settings, 16, 4, 1),
      other(settings, 16, 4, 2);
  EXPECT_EQ(one.source_length(), 15);
  EXPECT_TRUE(same(one.training(3), again.training(3)));
  EXPECT_FALSE(same(one.training(3), one.training(4)));
  EXPECT_FALSE(same(one.training(3), other.training(3)));
  ASSERT_EQ(one.evaluation_batches(Split::validation, 16), 2);
  for (Index i = 0; i < 2; ++i) {
    const Batch batch = one.evaluation(Split::validation, i, 16);
    EXPECT_TRUE(same(batch, other.evaluation(Split::validation, i, 16)));
    EXPECT_FALSE(same(batch, one.evaluation(Split::test, i, 16)));
  }
  // Where the split ends, a row has one token of padding for a source and nothing to score.
  const Batch last = one.evaluation(Split::validation, 1, 16);
  EXPECT_EQ(last.source_lengths->back(), 1);
  EXPECT_EQ(std::ranges::count(last.targets.read().last(16), core::no_target), 16);
}

TEST(DuplicatePairs, are_made_where_the_form_asks_for_them) {
  const auto duplicate = [](const char* form) {
    return GivenData(
        {{"kind", string("duplicate")}, {"length", Index(12)}, {"form", string(form)}});
  };
  const GivenData language = duplicate("language"), pairs = duplicate("seq2seq");
  EXPECT_FALSE(language.traits().sources);
  EXPECT_EQ(language.make(2, 1)->source_length(), 0);
  EXPECT_TRUE(pairs.traits().sources);
  EXPECT_TRUE(pairs.lists("shortest"));
  EXPECT_EQ(pairs.make(2, 1)->source_length(), 11);
  EXPECT_NE(pairs.make(2, 1)->fingerprint(), language.make(2, 1)->fingerprint());
}

TEST(DuplicatePairs, settings_report_words_that_do_not_fit) {
  const auto pairs = [](Index shortest, Index word) {
    return GivenData({{"kind", string("duplicate")},
                      {"length", Index(12)},
                      {"form", string("seq2seq")},
                      {"shortest", shortest},
                      {"word", word}});
  };
  EXPECT_EQ(pairs(1, 11).problems(), Keys{});
  EXPECT_EQ(pairs(1, 12).problems(), Keys{"length"});
  EXPECT_EQ(pairs(5, 4).problems(), Keys{"shortest"});
}

TEST(DuplicatePairs, refuses_words_that_do_not_fit) {
  for (const auto& [shortest, word] : {std::pair{1, 12}, {5, 4}, {12, 0}})
    EXPECT_THROW(
        DuplicatePairs({.form = DuplicateForm::seq2seq, .shortest = shortest, .word = word}, 12, 2,
                       1),
        core::Error);
}

}  // namespace
}  // namespace weft::data::duplicate_pairs_test
