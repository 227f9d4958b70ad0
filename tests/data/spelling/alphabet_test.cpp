#include "data/spelling/alphabet.h"

#include "tests/data/refusal.h"

namespace weft::data::alphabet_test {
namespace {

TEST(Alphabet, text_becomes_places_in_the_list_and_text_again) {
  const Alphabet alphabet({U'b', U'ä', U'€', U'𝄞', U'a'});
  const std::string text = "abä€𝄞b";
  EXPECT_EQ(alphabet.encode(text), (std::vector<core::Token>{4, 0, 1, 2, 3, 0}));
  EXPECT_EQ(alphabet.decode(alphabet.encode(text)), text);
}

TEST(Alphabet, names_the_character_it_does_not_have_and_where_it_stands) {
  const Alphabet alphabet({U'a', U'b'});
  expect_says(refusal_of([&] { alphabet.encode("abé"); }), core::Fault::usage, "'é'", "U+00E9",
              "byte 2", "2 characters");
  expect_says(refusal_of([&] { alphabet.encode("a\n"); }), core::Fault::usage, "(U+000A)");
}

TEST(Alphabet, refuses_text_that_is_not_utf8) {
  const Alphabet alphabet({U'a'});
  expect_says(refusal_of([&] { alphabet.encode("aa\xff"); }), core::Fault::usage, "not UTF-8",
              "byte 2");
}

TEST(Alphabet, refuses_tokens_and_lists_that_mean_nothing) {
  const Alphabet alphabet({U'a'});
  EXPECT_THROW(alphabet.decode(std::vector<core::Token>{1}), core::Error);
  EXPECT_THROW(alphabet.decode(std::vector<core::Token>{-1}), core::Error);
  EXPECT_THROW(Alphabet({U'a', U'b', U'a'}), core::Error);
  EXPECT_THROW(Alphabet({}), core::Error);
}

}  // namespace
}  // namespace weft::data::alphabet_test
