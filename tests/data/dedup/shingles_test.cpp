#include "data/dedup/shingles.h"

namespace weft::data::shingles_test {
namespace {

TEST(Shingles, texts_are_compared_in_lower_case_with_single_spaces) {
  EXPECT_EQ(normalised("  The\tQUICK \n Ärger\u00a0x "), "the quick ärger\u00a0x");
  EXPECT_EQ(normalised("a\u2003b"), "a b");
  EXPECT_EQ(normalised(""), "");
  EXPECT_EQ(normalised(" \n"), "");
  EXPECT_EQ(normalised("bad \xff\xc3 BYTES"), "bad \xff\xc3 bytes");
}

TEST(Shingles, markup_counts_unless_told_otherwise) {
  EXPECT_EQ(normalised("<p>One<br/>two</p> 1 < 2"), "<p>one<br/>two</p> 1 < 2");
  EXPECT_EQ(normalised("<p>One<br/>two</p> 1 < 2", true), "one two 1 < 2");
}

TEST(Shingles, are_the_distinct_runs_of_words) {
  EXPECT_EQ(word_shingles("a b c d e", 5).size(), 1u);
  EXPECT_EQ(word_shingles("a b c d e f g", 5).size(), 3u);
  EXPECT_EQ(word_shingles("a b c d", 5).size(), 0u);
  EXPECT_EQ(word_shingles("a a a a a a a a", 5).size(), 1u);
  EXPECT_EQ(word_shingles("", 5).size(), 0u);
  EXPECT_NE(word_shingles("a b c", 3), word_shingles("a bc", 3));
}

TEST(Shingles, two_of_six_shared_is_a_third) {
  // The pairs of letters of Nadal and Nadia: na ad are shared; da al, di ia are not.
  const double similarity = jaccard(word_shingles("n a d a l", 2), word_shingles("n a d i a", 2));
  EXPECT_DOUBLE_EQ(similarity, 2.0 / 6);
  EXPECT_DOUBLE_EQ(jaccard(word_shingles("x y", 2), word_shingles("x y", 2)), 1);
  EXPECT_DOUBLE_EQ(jaccard({}, {}), 0);
}

}  // namespace
}  // namespace weft::data::shingles_test
