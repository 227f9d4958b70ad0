#include "data/spelling/piece_table.h"

#include <cstring>
#include <limits>

#include "data/spelling/tokenizer.h"
#include "tests/data/refusal.h"
#include "tests/data/spelling/sample_tokenizer.h"

namespace weft::data::piece_table_test {
namespace {

/// Protocol-buffer fields, written by hand.
std::string field(int number, const std::string& bytes) {
  std::string out(1, char(number << 3 | 2));
  for (std::size_t size = bytes.size(); true; size >>= 7) {
    out += char((size & 127) | (size > 127 ? 128 : 0));
    if (size <= 127) break;
  }
  return out + bytes;
}

std::string piece(const std::string& text, float score, int kind) {
  std::string number(4, '\0');
  std::memcpy(number.data(), &score, 4);
  return field(1, field(1, text) + char(2 << 3 | 5) + number + char(3 << 3) + char(kind));
}

std::string byte_pieces(int count = 256) {
  std::string all;
  for (int byte = 0; byte < count; ++byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    all += piece(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0, 6);
  }
  return all;
}

const std::string unknown = piece("<unk>", 0, 2);

core::Error refused(const std::string& file) {
  return refusal_of([&] { PieceTable(file, "the tokenizer 'x'"); });
}

TEST(PieceTable, reads_pieces_bytes_and_controls) {
  const PieceTable table(unknown + byte_pieces() + piece("\u2581the", -1, 1) + piece("<s>", 0, 3),
                         "x");
  EXPECT_EQ(table.size(), 259);
  EXPECT_EQ(table.text(table.byte_piece('\xff')), "\xff");
  EXPECT_EQ(table.text(table.byte_piece('\0')), std::string(1, '\0'));
  EXPECT_EQ(table.text(257), " the");
  EXPECT_EQ(table.text(258), "");
  EXPECT_EQ(table.text(0), "");
}

TEST(PieceTable, writes_what_it_reads) {
  const PieceTable table(unknown + byte_pieces() + piece("\u2581the", -1.5F, 1), "x");
  EXPECT_EQ(PieceTable(table.file(), "x").file(), table.file());
}

TEST(PieceTable, refuses_what_the_library_would_stumble_on) {
  const std::string whole = unknown + byte_pieces();
  expect_says(refused(""), core::Fault::data, "the tokenizer 'x'", "no SentencePiece model",
              "weft data tokenizer");
  expect_says(refused("a line of text\n"), core::Fault::data, "the tokenizer 'x'");
  expect_says(refused(byte_pieces()), core::Fault::data, "unknown");
  expect_says(refused(whole + piece("<unk2>", 0, 2)), core::Fault::data, "unknown");
  expect_says(refused(unknown + byte_pieces(255)), core::Fault::data, "255 of the 256 bytes");
  expect_says(refused(whole + piece("a", 0, 1) + piece("a", 0, 1)), core::Fault::data, "twice");
  expect_says(refused(whole + piece("", 0, 1)), core::Fault::data, "length");
  expect_says(refused(whole + piece(std::string(100000, 'a'), 0, 1)), core::Fault::data, "length");
  expect_says(refused(whole + piece("\xff", 0, 1)), core::Fault::data, "UTF-8");
  expect_says(refused(whole + piece(std::string("a\0", 2), 0, 1)), core::Fault::data, "UTF-8");
  expect_says(refused(whole + piece("a", std::numeric_limits<float>::quiet_NaN(), 1)),
              core::Fault::data, "score");
  expect_says(refused(whole + piece("a", std::numeric_limits<float>::infinity(), 1)),
              core::Fault::data, "score");
  expect_says(refused(whole + piece("a", 0, 9)), core::Fault::data, "kind");
  expect_says(refused(whole + piece("<0xZZ>", 0, 6)), core::Fault::data, "byte");
  expect_says(refused(whole + field(2, {char(3 << 3), char(3)})), core::Fault::data,
              "words or characters");
}

/// What can be read at all must also work.
void expect_refused_or_working(const std::string& file) {
  try {
    const Tokenizer tokenizer(PieceTable(file, "x"));
    if (!has_sentencepiece()) return;
    const std::string text = "bake wünsa\n\xff tilo  漢字";
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::data) << error.what();
  }
}

TEST(PieceTable, survives_files_that_are_cut_or_changed_anywhere) {
  if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const std::string whole = made_model();
  const core::Rng rng(5);
  for (std::uint64_t i = 0; i < 300; ++i) {
    expect_refused_or_working(
        whole.substr(0, std::size_t(rng.below(3 * i, core::Index(whole.size())))));
    std::string changed = whole;
    changed[std::size_t(rng.below(3 * i + 1, core::Index(whole.size())))] =
        char(rng.below(3 * i + 2, 256));
    expect_refused_or_working(changed);
  }
}

TEST(PieceTable, survives_random_bytes) {
  const core::Rng rng(6);
  for (std::uint64_t i = 0, next = 0; i < 200; ++i) {
    std::string bytes;
    for (core::Index size = rng.below(next++, 300); size > 0; --size)
      bytes += char(rng.below(next++, 256));
    expect_refused_or_working(bytes);
  }
}

}  // namespace
}  // namespace weft::data::piece_table_test
