#include "experiments/evaluate/answer_metrics.h"

namespace weft::experiments::answer_metrics_test {
namespace {

using Words = std::vector<std::string>;

TEST(AnswerMetrics, exact_match_ignores_case_punctuation_and_articles) {
  EXPECT_TRUE(score_answer("The Norman dynasty.", {"Norman dynasty"}).exact);
  EXPECT_TRUE(score_answer("a", {"the"}).exact);
  EXPECT_TRUE(score_answer("An  apple,\tthe\npear", {"APPLE pear"}).exact);
  EXPECT_FALSE(score_answer("well-known", {"well known"}).exact);
  EXPECT_EQ(score_answer("well-known", {"well known"}).f1, 0);
}

TEST(AnswerMetrics, f1_counts_shared_words_against_the_best_answer) {
  const AnswerScore score = score_answer("in the 10th century", {"10th century", "the 11th"});
  EXPECT_FALSE(score.exact);
  EXPECT_NEAR(score.f1, 0.8, 1e-12);
  EXPECT_NEAR(score_answer("cat cat dog", {"cat cat cat"}).f1, 2.0 / 3, 1e-12);
}

TEST(AnswerMetrics, only_the_empty_text_is_right_where_there_is_no_answer) {
  EXPECT_TRUE(score_answer("", {}).exact);
  EXPECT_EQ(score_answer("", {}).f1, 1);
  EXPECT_FALSE(score_answer("yes", {}).exact);
  EXPECT_EQ(score_answer("yes", {}).f1, 0);
  EXPECT_EQ(score_answer("", {"yes"}).f1, 0);
  EXPECT_EQ(score_answer("the", {"yes"}).f1, 0);
}

TEST(AnswerMetrics, articles_and_case_are_found_beside_characters_beyond_ascii) {
  EXPECT_EQ(normalised_words("\u00c9mile \u2013the\u2013 \u00c4rzte"),
            (Words{"\u00e9mile", "\u2013", "\u2013", "\u00e4rzte"}));
  EXPECT_EQ(normalised_words("one\u00a0two"), (Words{"one", "two"}));
  EXPECT_EQ(normalised_words("theatre a1 an"), (Words{"theatre", "a1"}));
}

TEST(AnswerMetrics, bytes_that_are_not_utf8_do_no_harm) {
  EXPECT_TRUE(score_answer("caf\xc3", {"caf\xc3"}).exact);
  EXPECT_FALSE(score_answer("caf\xc3", {"caf"}).exact);
}

TEST(AnswerMetrics, symbols_are_compared_as_they_are) {
  EXPECT_FALSE(score_symbols("a", {"the"}).exact);
  EXPECT_TRUE(score_symbols("ab", {"ab"}).exact);
  EXPECT_FALSE(score_symbols("ab", {"ba"}).exact);
  EXPECT_NEAR(score_symbols("abc", {"bcd"}).f1, 2.0 / 3, 1e-12);
  EXPECT_TRUE(score_symbols("", {}).exact);
}

}  // namespace
}  // namespace weft::experiments::answer_metrics_test
