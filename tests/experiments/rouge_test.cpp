#include "experiments/evaluate/rouge.h"

#include "data/plain_words.h"

namespace weft::experiments::rouge_test {
namespace {

Rouge of(const char* candidate, const char* reference) {
  return rouge_of(data::plain_words(candidate), data::plain_words(reference));
}

TEST(Rouge, agrees_with_the_published_example) {
  const Rouge rouge = of("police killed the gunman", "police kill the gunman");
  EXPECT_NEAR(rouge.one, 0.75, 1e-12);
  EXPECT_NEAR(rouge.two, 1.0 / 3, 1e-12);
  EXPECT_NEAR(rouge.longest, 0.75, 1e-12);
  EXPECT_NEAR(of("the gunman kill police", "police kill the gunman").longest, 0.5, 1e-12);
}

TEST(Rouge, counts_an_n_gram_as_often_as_both_sides_have_it) {
  EXPECT_NEAR(of("the the the", "the cat").one, 2.0 / 5, 1e-12);
  EXPECT_NEAR(of("a b a b", "a b").two, 2.0 / 4, 1e-12);
}

TEST(Rouge, is_zero_where_a_side_has_nothing) {
  EXPECT_EQ(of("", "police").one, 0);
  EXPECT_EQ(of("police", "").longest, 0);
  EXPECT_EQ(of("one", "one").two, 0);
  EXPECT_EQ(of("one", "one").one, 1);
}

double by_lines(const char* candidate, const char* reference) {
  return rouge_by_lines(lines_of(candidate), lines_of(reference));
}

// The example of section 3.2 of Lin's paper: w1 w2 and w1 w3 w5 together are four of five words.
TEST(Rouge, by_lines_unites_what_each_line_has_in_common) {
  EXPECT_NEAR(by_lines("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"), 8.0 / 15, 1e-12);
  EXPECT_NEAR(by_lines("w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"), 8.0 / 15, 1e-12);
  // As one text the order of the lines counts, line by line it does not.
  EXPECT_NEAR(by_lines("c d\na b", "a b\nc d"), 1, 1e-12);
  EXPECT_NEAR(of("c d\na b", "a b\nc d").longest, 0.5, 1e-12);
}

TEST(Rouge, by_lines_counts_a_word_as_often_as_both_texts_have_it) {
  EXPECT_NEAR(by_lines("the cat", "the cat\nthe cat"), 4.0 / 6, 1e-12);
  EXPECT_NEAR(by_lines("the cat\nthe cat", "the cat"), 4.0 / 6, 1e-12);
}

TEST(Rouge, of_single_lines_is_the_same_by_lines) {
  for (const char* const text : {"the gunman kill police", "police killed the gunman", "a b", ""})
    EXPECT_EQ(by_lines(text, "police kill the gunman"), of(text, "police kill the gunman").longest);
  EXPECT_EQ(by_lines("", ""), 0);
}

TEST(Rouge, lines_without_words_are_no_lines) {
  EXPECT_EQ(lines_of("A cat.\n\n --- \nA mat\n"), (WordLines{{"a", "cat"}, {"a", "mat"}}));
  EXPECT_TRUE(lines_of("\n\n").empty());
}

TEST(Rouge, words_are_runs_of_letters_and_digits_in_lower_case) {
  EXPECT_EQ(data::plain_words("The Cat's 2nd-best, mat!\n"),
            (std::vector<std::string>{"the", "cat", "s", "2nd", "best", "mat"}));
  EXPECT_TRUE(data::plain_words(" .,\n").empty());
}

}  // namespace
}  // namespace weft::experiments::rouge_test
