#include "data/spelling/tokenizer.h"

#include <numeric>

#include "core/parallel.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"
#include "tests/data/spelling/sample_tokenizer.h"

namespace weft::data::tokenizer_test {
namespace {

using core::Token;
using Form = PieceTable::Form;

class TokenizerOf : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  }
};

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  const core::Rng rng(seed);
  std::string bytes;
  for (std::uint64_t i = 0; i < count; ++i) bytes += char(rng.below(i, 256));
  return bytes;
}

void expect_back(const Tokenizer& tokenizer, const std::string& text) {
  const std::vector<Token> tokens = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(tokens), text);
  std::string joined;  // as generating does, token by token
  for (const Token token : tokens) joined += tokenizer.decode(std::span(&token, 1));
  EXPECT_EQ(joined, text);
}

TEST_P(TokenizerOf, gives_back_any_bytes) {
  const Tokenizer tokenizer = made_tokenizer(GetParam());
  std::string all(256, '\0');
  std::iota(all.begin(), all.end(), '\0');
  for (const std::string& text :
       {std::string(), std::string(1, '\0'), std::string("a\0b", 3), all,
        std::string("bake tilo\n\n  musa\t\r\n"), std::string("   "),
        std::string("\xff\xc3 ba\xe2\x82"), std::string("\u2581ba\u2581 ke"),
        std::string("<0x41><unk><s>"), std::string("\uFEFFba\u00A0ke\u3000e\u0301"),
        std::string(5000, 'a'), std::string(5000, ' '), std::string("wünsa€ 漢字 😀")})
    expect_back(tokenizer, text);
  for (std::uint64_t seed = 0; seed < 50; ++seed) expect_back(tokenizer, random_bytes(500, seed));
}

TEST_P(TokenizerOf, writes_known_words_with_few_tokens_and_others_with_bytes) {
  const Tokenizer tokenizer = made_tokenizer(GetParam());
  const std::string known = made_sentences()[0], strange = "漢字";
  EXPECT_LT(tokenizer.encode(known).size(), known.size() / 2);
  EXPECT_EQ(tokenizer.encode(strange).size(), strange.size());
}

TEST_P(TokenizerOf, gives_the_same_tokens_on_any_number_of_threads) {
  const Tokenizer tokenizer = made_tokenizer(GetParam());
  std::string text;
  for (const std::string& sentence : made_sentences(6000, 3)) text += sentence + "\n";
  ASSERT_GT(text.size(), std::size_t(4) << 16);
  const core::Index before = core::threads();
  core::set_threads(1);
  const auto alone = tokenizer.encode(text);
  core::set_threads(4);
  const auto together = tokenizer.encode(text);
  core::set_threads(before);
  EXPECT_EQ(alone, together);
  EXPECT_EQ(tokenizer.decode(alone), text);
}

TEST_P(TokenizerOf, is_learned_the_same_again) {
  EXPECT_EQ(made_model(GetParam()), made_model(GetParam()));
}

TEST_P(TokenizerOf, has_the_same_tokens_after_being_written_and_read) {
  const Tokenizer tokenizer = made_tokenizer(GetParam());
  const ScratchFile file(tokenizer.file());
  const Tokenizer read = Tokenizer::read(file.path());
  EXPECT_EQ(read.file(), tokenizer.file());
  const std::string text = "bake wünsa. strange";
  EXPECT_EQ(read.encode(text), tokenizer.encode(text));
}

INSTANTIATE_TEST_SUITE_P(Forms, TokenizerOf, testing::Values(Form::unigram, Form::bpe));

TEST(TokenizerTraining, says_how_large_a_vocabulary_a_text_allows) {
  if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  for (const Form form : {Form::unigram, Form::bpe}) {
    const PieceTable table(made_model(form, 100000), "made");
    EXPECT_GT(table.size(), 300);
    EXPECT_LT(table.size(), 100000);
  }
}

TEST(TokenizerTraining, refuses_a_vocabulary_without_room_for_the_characters) {
  if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  for (const Form form : {Form::unigram, Form::bpe})
    expect_says(refusal_of([&] { made_model(form, 262); }), core::Fault::data, "no room", "--size");
}

TEST(TokenizerFile, that_is_missing_or_far_too_large_is_refused) {
  expect_says(refusal_of([] { Tokenizer::read("/nowhere/x.model"); }), core::Fault::data,
              "/nowhere/x.model", "weft data tokenizer");
  const ScratchFile file("x");
  std::filesystem::resize_file(file.path(), std::uintmax_t(1) << 40);
  expect_says(refusal_of([&] { Tokenizer::read(file.path()); }), core::Fault::data, "too large");
}

}  // namespace
}  // namespace weft::data::tokenizer_test
