#include "data/summaries/marked.h"

#include <algorithm>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"

namespace weft::data::marked_test {
namespace {

std::vector<Token> source_of(const Batch& batch, Index row) {
  const Index longest = batch.sources.shape()[1];
  const auto all = batch.sources.read().subspan(
      std::size_t(row * longest), std::size_t((*batch.source_lengths)[std::size_t(row)]));
  return {all.begin(), all.end()};
}

/// What a summary must be, from reading the document.
std::vector<Token> summary_of(const std::vector<Token>& source, bool ranked, Index& marks) {
  std::map<Token, std::vector<Token>> marked;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != Marked::mark) continue;
    const Token rank = ranked ? source[++i] : Token(marked.size());
    while (source[++i] != Marked::stop) marked[rank].push_back(source[i]);
    marked[rank].push_back(Marked::stop);
  }
  marks = Index(marked.size());
  std::vector<Token> all;
  for (const auto& [rank, sentence] : marked)
    all.insert(all.end(), sentence.begin(), sentence.end());
  all.push_back(Marked::end);
  return all;
}

TEST(Marked, the_summary_is_the_marked_sentences_in_order) {
  for (const MarkedOrder order : {MarkedOrder::rank, MarkedOrder::document}) {
    const MarkedSettings settings{
        .source = 80, .symbols = 9, .least = 2, .most = 5, .order = order};
    const Marked data(settings, 24, 6, 1);
    EXPECT_EQ(data.vocabulary(), 3 + 3 + 9);
    EXPECT_EQ(data.source_length(), 80);
    std::set<Index> counts, sizes;
    for (Index number = 0; number < 20; ++number) {
      const Batch batch = data.training(number);
      ASSERT_EQ(batch.sources.shape(), (core::Shape{6, 80}));
      for (Index row = 0; row < 6; ++row) {
        const std::vector<Token> source = source_of(batch, row);
        Index marks = 0;
        const auto expected = summary_of(source, order == MarkedOrder::rank, marks);
        counts.insert(marks);
        Index size = 0;
        for (const Token token : source) {
          if (token >= data.first_symbol()) ++size;
          if (token != Marked::stop) continue;
          sizes.insert(size);
          size = 0;
        }
        const auto targets = batch.targets.read().subspan(std::size_t(row) * 24, 24);
        const auto inputs = batch.inputs.read().subspan(std::size_t(row) * 24, 24);
        EXPECT_TRUE(std::ranges::equal(targets.first(expected.size()), expected));
        EXPECT_TRUE(std::ranges::equal(inputs.subspan(1, expected.size() - 1),
                                       std::span(expected).first(expected.size() - 1)));
        EXPECT_EQ(inputs[0], *data.boundary());
        EXPECT_EQ(std::ranges::count(targets, core::no_target), 24 - Index(expected.size()));
      }
    }
    EXPECT_EQ(counts, (std::set<Index>{1, 2, 3}));
    EXPECT_EQ(sizes, (std::set<Index>{2, 3, 4, 5}));
  }
}

TEST(Marked, a_batch_depends_on_seed_and_number_and_held_out_ones_on_neither) {
  const MarkedSettings settings{.source = 100, .held_out = 5};
  const Marked one(settings, 40, 4, 1), again(settings, 40, 4, 1), other(settings, 40, 4, 2);
  EXPECT_TRUE(same(one.training(3), again.training(3)));
  EXPECT_FALSE(same(one.training(3), other.training(3)));
  EXPECT_TRUE(same(one.evaluation(Split::test, 1, 40), other.evaluation(Split::test, 1, 40)));
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
}

TEST(Marked, every_symbol_is_a_word) {
  const Marked data({}, 40, 1, 1);
  const Token first = data.first_symbol();
  EXPECT_EQ(data.words(std::vector<Token>{first, first + 1, Marked::stop, first}),
            (Keys{"a", "b", "a"}));
}

TEST(Marked, settings_report_what_does_not_fit) {
  const auto given = [](Index length, Index source, Index least) {
    return GivenData(
        {{"kind", string("marked")}, {"length", length}, {"source", source}, {"least", least}});
  };
  EXPECT_EQ(given(40, 512, 4).problems(), Keys{});
  EXPECT_TRUE(given(40, 512, 4).traits().sources);
  EXPECT_EQ(given(40, 512, 4).traits().source_length, 512);
  EXPECT_EQ(given(39, 512, 4).problems(), Keys{"length"});
  EXPECT_EQ(given(40, 44, 4).problems(), Keys{"source"});
  EXPECT_EQ(given(40, 512, 13).problems(), Keys{"least"});
}

}  // namespace
}  // namespace weft::data::marked_test
