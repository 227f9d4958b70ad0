#include "data/spelling/utf8.h"

namespace weft::data::utf8_test {
namespace {

TEST(Utf8, every_character_survives_writing_and_reading) {
  for (char32_t character = 0; character < 0x110000; ++character) {
    if (character >= 0xd800 && character < 0xe000) continue;
    std::string text;
    append_character(text, character);
    std::size_t at = 0;
    ASSERT_EQ(read_character(text, at), character);
    ASSERT_EQ(at, text.size());
  }
}

TEST(Utf8, refuses_what_is_not_utf8_and_stays_in_place) {
  const std::vector<std::string> bad = {
      "\x80",              // continuation without a beginning
      "\xff",              // never a byte of UTF-8
      "\xc3",              // cut off
      "\xe2\x82",          // cut off
      "\xc3(",             // beginning without continuation
      "\xc0\xaf",          // longer than needed
      "\xe0\x80\xaf",      // longer than needed
      "\xed\xa0\x80",      // half of a surrogate pair
      "\xf4\x90\x80\x80",  // past the last character
  };
  for (const std::string& text : bad) {
    std::size_t at = 0;
    EXPECT_FALSE(read_character(text, at).has_value()) << testing::PrintToString(text);
    EXPECT_EQ(at, 0u);
  }
}

}  // namespace
}  // namespace weft::data::utf8_test
