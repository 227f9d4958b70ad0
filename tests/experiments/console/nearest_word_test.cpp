#include "experiments/console/nearest_word.h"

namespace weft::experiments::nearest_word_test {
namespace {

TEST(Spelling, counts_insertions_omissions_replacements_and_swaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("heads", "heads"), 0u);
  EXPECT_EQ(edit_distance("heads", "head"), 1u);
  EXPECT_EQ(edit_distance("heads", "heaads"), 1u);
  EXPECT_EQ(edit_distance("heads", "reads"), 1u);
  EXPECT_EQ(edit_distance("linaer", "linear"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), edit_distance("sitting", "kitten"));
}

TEST(Spelling, finds_the_nearest_word_that_is_near_enough) {
  const std::vector<std::string> words = {"dense", "linear", "local", "lsh"};
  EXPECT_EQ(nearest("linaer", words), "linear");
  EXPECT_EQ(nearest("Dense", words), "dense");
  EXPECT_EQ(nearest("loca", words), "local");
  EXPECT_EQ(nearest("lhs", words), "lsh");
  EXPECT_EQ(nearest("reformer", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("linear", {}), "");
}

TEST(Spelling, does_not_take_one_short_word_for_another) {
  EXPECT_FALSE(is_misspelling("lr", "ff"));
  EXPECT_FALSE(is_misspelling("a", "b"));
  EXPECT_FALSE(is_misspelling("seed", "steps"));
  EXPECT_TRUE(is_misspelling("head", "heads"));
}

}  // namespace
}  // namespace weft::experiments::nearest_word_test
