#include "data/spelling/text_cuts.h"

namespace weft::data::text_cuts_test {
namespace {

struct Cuts {
  explicit Cuts(const std::string& text) {
    cut_text(
        text,
        [this](std::string_view stretch) {
          parts.emplace_back(stretch);
          joined += stretch;
        },
        [this](char byte) {
          parts.push_back(std::string("byte ") + byte);
          joined += byte;
        });
  }
  std::vector<std::string> parts;
  std::string joined;
};

TEST(TextCuts, are_at_line_ends_zeros_and_what_is_no_utf8) {
  std::string text("one two\nthree\0", 14);
  text += "f\xffür\n\n";
  const Cuts cuts(text);
  EXPECT_EQ(cuts.joined, text);
  EXPECT_EQ(cuts.parts,
            (std::vector<std::string>{"one two", "byte \n", "three", std::string("byte \0", 6), "f",
                                      "byte \xff", "ür", "byte \n", "byte \n"}));
}

TEST(TextCuts, keep_the_sign_for_spaces_out) {
  const Cuts cuts("a\u2581b");
  EXPECT_EQ(cuts.joined, "a\u2581b");
  EXPECT_EQ(cuts.parts.size(), 5u);
}

TEST(TextCuts, leave_words_whole_and_stretches_short) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "word ";
  text += std::string(9001, 'x');
  const Cuts cuts(text);
  EXPECT_EQ(cuts.joined, text);
  for (std::size_t i = 0; i < cuts.parts.size(); ++i) {
    EXPECT_LE(cuts.parts[i].size(), longest_stretch);
    if (i > 0 && cuts.parts[i].find('w') != std::string::npos) {
      EXPECT_EQ(cuts.parts[i][0], ' ');
    }
  }
}

TEST(TextCuts, of_what_is_settled_and_of_what_follows_are_those_of_the_whole) {
  std::string words, odd;
  for (int i = 0; i < 30000; ++i) words += "word" + std::to_string(i % 1001) + (i % 5 ? " " : "  ");
  for (int i = 0; i < 60000; ++i) odd += i % 7 == 0 ? "\xe2\x82" : i % 11 == 0 ? "\u2581" : "für";
  for (const std::string& text : {words, std::string(200001, 'x'), odd, "first\n" + words,
                                  words + "\nlast", words.substr(0, 70000) + "\n" + odd}) {
    const std::vector<std::string> whole = Cuts(text).parts;
    for (const std::size_t read : {70000, 70001, 70002, 70003, 123457}) {
      const std::size_t settled = settled_text(std::string_view(text).substr(0, read));
      EXPECT_LT(read - settled, std::size_t(1) << 16);
      std::vector<std::string> both = Cuts(text.substr(0, settled)).parts;
      const std::vector<std::string> rest = Cuts(text.substr(settled)).parts;
      both.insert(both.end(), rest.begin(), rest.end());
      EXPECT_EQ(both.size(), whole.size());
      EXPECT_TRUE(both == whole) << read;
    }
  }
}

}  // namespace
}  // namespace weft::data::text_cuts_test
