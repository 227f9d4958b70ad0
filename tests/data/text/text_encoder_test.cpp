#include "data/text/text_encoder.h"

#include "core/error.h"
#include "data/text/character_survey.h"
#include "tests/data/refusal.h"
#include "tests/data/spelling/sample_tokenizer.h"

namespace weft::data::text_encoder_test {
namespace {

using core::Token;

struct Encoded {
  std::vector<Token> tokens;
  std::size_t at_once = 0;  ///< the most that were handed over together
};

/// Texts that arrive in pieces of `piece` bytes and are encoded when `most` bytes wait.
Encoded encoded(const std::vector<std::string>& texts, const Spelling& spelling,
                std::optional<Token> boundary, std::size_t piece, std::size_t most) {
  Encoded found;
  const auto take = [&](std::span<const Token> tokens) {
    found.tokens.insert(found.tokens.end(), tokens.begin(), tokens.end());
    found.at_once = std::max(found.at_once, tokens.size());
  };
  TextEncoder encoder(spelling, boundary, take, most);
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at < text.size(); at += piece) encoder.add(text.substr(at, piece));
    encoder.end();
  }
  encoder.finish();
  return found;
}

/// What the encoder is to give, from whole texts.
std::vector<Token> expected(const std::vector<std::string>& texts, const Spelling& spelling,
                            std::optional<Token> boundary) {
  std::vector<Token> all;
  if (boundary && !texts.empty()) all.push_back(*boundary);
  for (const std::string& text : texts) {
    const std::vector<Token> tokens = spelling.encode(text);
    all.insert(all.end(), tokens.begin(), tokens.end());
    if (boundary) all.push_back(*boundary);
  }
  return all;
}

std::string words(int count, const std::string& between) {
  std::string text;
  for (const std::string& sentence : made_sentences(count, 3)) text += sentence + between;
  return text;
}

std::vector<std::vector<std::string>> samples() {
  return {{},
          {"one text"},
          {"", "a", "", words(5, "\n"), ""},
          {words(40, "\n"), words(40, " "), words(40, "")}};
}

void expect_same(const Spelling& spelling) {
  for (const auto& texts : samples())
    for (const std::optional<Token> boundary :
         {std::optional<Token>(), std::optional(Token(spelling.vocabulary()))})
      for (const std::size_t piece : {1, 3, 1000})
        for (const std::size_t most : {1, 50, 1 << 22})
          EXPECT_EQ(encoded(texts, spelling, boundary, piece, most).tokens,
                    expected(texts, spelling, boundary))
              << spelling.unit() << ' ' << piece << ' ' << most;
}

TEST(TextEncoder, gives_the_tokens_of_the_whole_texts_whatever_the_pieces) {
  expect_same(Spelling::bytes());
  expect_same(Spelling(alphabet_of({"sample", words(60, "\n") + "one text"})));
}

TEST(TextEncoder, gives_the_pieces_of_the_whole_texts_whatever_the_pieces_of_the_file) {
  if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const Spelling spelling(made_tokenizer());
  expect_same(spelling);
  // Long lines, lines without any space, and what is no UTF-8, cut at every stretch.
  std::string odd;
  for (int i = 0; i < 30000; ++i) odd += i % 7 == 0 ? "\xe2\x82" : i % 5 == 0 ? "\u2581" : "wün";
  for (const std::string& text : {words(1500, " "), words(1500, ""), odd})
    for (const std::size_t piece : {5001, 70001})
      EXPECT_EQ(encoded({text}, spelling, {}, piece, 70000).tokens, spelling.encode(text)) << piece;
}

TEST(TextEncoder, keeps_no_more_than_it_is_told) {
  const std::string long_line(1 << 20, 'x');
  EXPECT_LE(encoded({long_line}, Spelling::bytes(), {}, 1000, 4000).at_once, 5000u);
  if (!has_sentencepiece()) return;
  EXPECT_LE(encoded({words(4000, " ")}, Spelling(made_tokenizer()), {}, 1000, 70000).at_once,
            72000u);
}

TEST(TextEncoder, notices_a_text_that_is_not_the_one_that_was_surveyed) {
  const Spelling spelling(alphabet_of({"before", "abc"}));
  expect_says(refusal_of([&] { encoded({"abcd"}, spelling, {}, 2, 1); }), core::Fault::data,
              "changed while it was read");
}

TEST(CharacterSurvey, finds_characters_that_pieces_cut_and_says_where_bytes_are_none) {
  const std::string text = "wörter – €";
  for (const std::size_t size : {1, 2, 3, 5}) {
    CharacterSurvey survey;
    for (std::size_t at = 0; at < text.size(); at += size)
      survey.add(text.substr(at, size), "file", core::Index(at));
    survey.end("file");
    EXPECT_EQ(survey.alphabet().characters(), alphabet_of({"file", text}).characters());
    EXPECT_EQ(survey.count(), 10);
  }
  for (const std::size_t size : {1, 2, 100}) {
    const auto read = [&](const std::string& broken) {
      CharacterSurvey survey;
      for (std::size_t at = 0; at < broken.size(); at += size)
        survey.add(broken.substr(at, size), "file", core::Index(at));
      survey.end("file");
    };
    expect_says(refusal_of([&] { read("good \xff bad"); }), core::Fault::data,
                "'file' is not UTF-8 at byte 5:");
    expect_says(refusal_of([&] { read("cut \xe2\x82"); }), core::Fault::data,
                "'file' is not UTF-8 at byte 4:");
  }
}

}  // namespace
}  // namespace weft::data::text_encoder_test
