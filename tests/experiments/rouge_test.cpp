#include "experiments/evaluate/rouge.h"

#include "data/plain_words.h"

namespace weft::experiments {
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

TEST(Rouge, words_are_runs_of_letters_and_digits_in_lower_case) {
  EXPECT_EQ(data::plain_words("The Cat's 2nd-best, mat!\n"),
            (std::vector<std::string>{"the", "cat", "s", "2nd", "best", "mat"}));
  EXPECT_TRUE(data::plain_words(" .,\n").empty());
}

}  // namespace
}  // namespace weft::experiments
