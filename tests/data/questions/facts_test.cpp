#include "data/questions/facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/batch_equality.h"
#include "tests/data/given_data.h"

namespace weft::data::facts_test {
namespace {

/// What a document says, read back token by token.
struct ReadBack {
  std::map<Token, std::vector<Token>> values;
  std::map<Token, Index> at;  ///< where a value begins
  std::map<Token, Token> links;
  Index filler = 0;

  ReadBack(std::span<const Token> tokens, Token first_symbol) {
    for (std::size_t i = 3; i < tokens.size(); ++i) {
      if (tokens[i] >= first_symbol) {
        ++filler;
        continue;
      }
      const Token key = tokens[i++];
      if (tokens[i++] == Facts::link) {
        links[key] = tokens[i++];
      } else {
        at[key] = Index(i);
        while (tokens[i] != Facts::end) values[key].push_back(tokens[i++]);
      }
      EXPECT_EQ(tokens[i], Facts::end);
    }
  }
};

TEST(Facts, every_answer_is_the_value_of_the_key_that_is_asked_for) {
  for (const Index hops : {1, 2}) {
    const FactsSettings settings{.keys = 20, .symbols = 9, .facts = 6, .hops = hops};
    const Facts data(settings, 100, 8, 1);
    Index without = 0, questions = 0;
    std::set<std::size_t> sizes;
    for (Index number = 0; number < 25; ++number) {
      const Batch batch = data.training(number);
      ASSERT_EQ(batch.targets.shape(), (core::Shape{8, 1, 2}));
      EXPECT_FALSE(batch.lengths);
      for (std::size_t row = 0; row < 8; ++row, ++questions) {
        const auto tokens = batch.inputs.read().subspan(100 * row, 100);
        const auto answer = batch.targets.read().subspan(2 * row, 2);
        const auto document = batch.documents.read().subspan(2 * row, 2);
        EXPECT_EQ(document[0], 3);
        EXPECT_EQ(document[1], 99);
        EXPECT_EQ(tokens[0], cls);
        EXPECT_EQ(tokens[2], separator);
        const ReadBack found(tokens, data.first_symbol());
        EXPECT_EQ(Index(found.values.size()), settings.values());
        EXPECT_EQ(Index(found.values.size() + found.links.size()), 6);
        Token key = tokens[1];
        if (answer[0] == 0) {
          ++without;
          EXPECT_EQ(answer[1], 0);
          EXPECT_FALSE(found.values.contains(key) || found.links.contains(key));
          continue;
        }
        if (hops == 2) key = found.links.at(key);
        EXPECT_EQ(Index(answer[0]), found.at.at(key));
        EXPECT_EQ(answer[1] - answer[0] + 1, Token(found.values.at(key).size()));
        sizes.insert(found.values.at(key).size());
      }
    }
    EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 3, 4}));
    EXPECT_NEAR(double(without) / double(questions), 0.1, 0.07);
  }
}

TEST(Facts, filler_follows_the_recall_languages_chain_across_facts) {
  const Facts data({.keys = 8, .symbols = 26, .facts = 2, .unanswerable = 0}, 200, 1, 1);
  const ChainLanguage language(26);
  const MarkovChain& chain = language.chain();
  const Batch batch = data.training(0);
  const auto tokens = batch.inputs.read();
  Token last = -1;
  for (std::size_t i = 3; i < tokens.size(); ++i) {
    if (tokens[i] < data.first_symbol()) {
      while (tokens[i] != Facts::end) ++i;
      continue;
    }
    const Token symbol = tokens[i] - data.first_symbol();
    if (last >= 0) {
      EXPECT_NE(std::ranges::find(chain.successors(last), symbol), chain.successors(last).end());
    }
    last = symbol;
  }
}

TEST(Facts, answers_stand_anywhere_in_the_document) {
  const Facts data({.keys = 8, .facts = 1, .unanswerable = 0, .held_out = 400}, 64, 16, 1);
  std::vector<Index> quarters(4);
  for (Index i = 0; i < 400; ++i)
    ++quarters[std::size_t((data.question(Split::validation, i).place - 1) * 4 / 61)];
  for (const Index count : quarters) EXPECT_NEAR(double(count), 100, 35);
}

TEST(Facts, questions_are_told_by_id_text_and_place) {
  const Facts data({.keys = 20, .facts = 4, .unanswerable = 0.5, .held_out = 40}, 64, 8, 1);
  Index without = 0;
  for (Index i = 0; i < data.questions(Split::test); ++i) {
    const Question question = data.question(Split::test, i);
    EXPECT_EQ(question.id, "test-" + std::to_string(i));
    EXPECT_EQ(question.first_window, i);
    without += question.answers.empty();
    if (question.answers.empty()) continue;
    const Batch batch = data.evaluation(Split::test, i / 8, 64);
    const auto answer = batch.targets.read().subspan(std::size_t(i % 8) * 2, 2);
    EXPECT_EQ(question.answers[0], data.answer_text(Split::test, i, answer[0], answer[1]));
    EXPECT_EQ(question.place, answer[0] - 2);
  }
  EXPECT_EQ(data.baselines(Split::test)[0].accuracy, double(without) / 40);
  EXPECT_EQ(data.baselines(Split::test)[1].accuracy, (1 - double(without) / 40) / 4);
}

TEST(Facts, a_batch_depends_on_seed_and_number_and_held_out_ones_on_neither) {
  const FactsSettings settings{.held_out = 5};
  const Facts one(settings, 128, 4, 1), again(settings, 128, 4, 1), other(settings, 128, 4, 2);
  EXPECT_TRUE(same(one.training(3), again.training(3)));
  EXPECT_FALSE(same(one.training(3), one.training(4)));
  EXPECT_FALSE(same(one.training(3), other.training(3)));
  EXPECT_EQ(one.fingerprint(), other.fingerprint());
  EXPECT_NE(one.fingerprint(), Facts({.hops = 2}, 128, 4, 1).fingerprint());
  ASSERT_EQ(one.evaluation_batches(Split::validation, 128), 2);
  for (Index i = 0; i < 2; ++i) {
    const Batch batch = one.evaluation(Split::validation, i, 128);
    EXPECT_TRUE(same(batch, other.evaluation(Split::validation, i, 128)));
    EXPECT_FALSE(same(batch, one.evaluation(Split::test, i, 128)));
  }
}

TEST(Facts, settings_report_what_does_not_go_together) {
  const auto given = [](Index length, Index keys, Index facts, Index hops) {
    return GivenData({{"kind", string("facts")},
                      {"length", length},
                      {"keys", keys},
                      {"facts", facts},
                      {"hops", hops}});
  };
  EXPECT_EQ(given(128, 64, 16, 1).problems(), Keys{});
  EXPECT_TRUE(given(128, 64, 16, 1).traits().asks);
  EXPECT_EQ(given(114, 64, 16, 1).problems(), Keys{"length"});
  EXPECT_EQ(given(128, 10, 16, 1).problems(), Keys{"facts"});
  EXPECT_EQ(given(128, 16, 16, 1).problems(), Keys{"unanswerable"});
  EXPECT_EQ(given(128, 64, 15, 2).problems(), Keys{"facts"});
}

}  // namespace
}  // namespace weft::data::facts_test
