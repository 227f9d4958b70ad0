#include "data/text/prepared_text.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/files/file_seal.h"
#include "core/files/hdf5_file.h"
#include "data/text/text.h"
#include "tests/data/batch_equality.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::prepared_text_test {
namespace {

std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Text whose alphabet needs tokens of 1 byte (`kinds` <= 256), 2 or 4.
std::string text_of(Index kinds, Index size) {
  std::vector<char32_t> characters;
  for (Index i = 0; i < kinds; ++i) characters.push_back(char32_t(i < 0xd000 ? i + 1 : i + 0x1000));
  std::vector<Token> tokens;
  for (Index i = 0; i < size; ++i)
    tokens.push_back(Token(i < kinds ? i : core::Rng(5).below(std::uint64_t(i), kinds)));
  return Alphabet(characters).decode(tokens);
}

/// A text and the file it was prepared as.
struct Prepared {
  explicit Prepared(const std::string& text, Unit unit = Unit::characters)
      : file(text), path(file.folder() + "/text.h5") {
    direct.files.path = file.path();
    direct.units.kind = unit;
    direct.files.fractions = {0.6, 0.3, 0.1};
    settings.files.path = path;
    write();
  }
  std::string write() const {
    TokenFiles tokens(path);
    const TextFacts facts = encode_divided_text(division(), tokens);
    return write_prepared_text(path, facts, tokens);
  }

  TextDivision division() const {
    return {.paths = {{{file.path()}, {}, {}}},
            .units = direct.units,
            .fractions = direct.files.fractions};
  }

  ScratchFile file;
  std::string path;
  TextSettings direct, settings;
};

TEST(PreparedText, gives_the_batches_of_the_text_itself) {
  for (const Index kinds : {40, 300, 70000}) {
    const Prepared prepared(text_of(kinds, std::max<Index>(2000, kinds + 500)));
    for (const auto sampling : {TextSettings::Sampling::crops, TextSettings::Sampling::streams}) {
      TextSettings direct = prepared.direct, settings = prepared.settings;
      direct.sampling = settings.sampling = sampling;
      const Text expected(direct, 16, 4, 3), read(settings, 16, 4, 3);
      EXPECT_EQ(read.vocabulary(), kinds);
      EXPECT_EQ(read.unit(), "character");
      for (Index i = 0; i < 30; ++i) EXPECT_TRUE(same(read.training(i), expected.training(i))) << i;
      for (const Split split : {Split::validation, Split::test}) {
        ASSERT_EQ(read.evaluation_batches(split, 5), expected.evaluation_batches(split, 5));
        for (Index i = 0; i < std::min<Index>(5, read.evaluation_batches(split, 5)); ++i)
          EXPECT_TRUE(same(read.evaluation(split, i, 5), expected.evaluation(split, i, 5)));
      }
      EXPECT_EQ(read.decode(read.encode("\x01\x02\x03")), "\x01\x02\x03");
    }
  }
}

TEST(PreparedText, bytes_need_no_alphabet) {
  const Prepared prepared("any \xff\xc3 bytes, and then some more of them", Unit::bytes);
  const Text expected(prepared.direct, 8, 2, 1), read(prepared.settings, 8, 2, 1);
  EXPECT_EQ(read.vocabulary(), 256);
  EXPECT_EQ(read.unit(), "byte");
  EXPECT_TRUE(same(read.training(7), expected.training(7)));
  EXPECT_FALSE(core::Hdf5File::open(prepared.path).contains("alphabet"));
}

TEST(PreparedText, several_files_are_laid_end_to_end_and_splits_may_have_their_own) {
  const ScratchFile a("abcdefgh"), b("ijklmnop"), c("qrst");
  const DividedText joined = read_divided_text({.paths = {{{a.path(), b.path()}, {c.path()}, {}}}});
  EXPECT_EQ(joined.facts.part(Split::training).size, 16);
  EXPECT_EQ(joined.facts.part(Split::validation).begin, 16);
  EXPECT_EQ(joined.facts.part(Split::validation).size, 4);
  EXPECT_EQ(joined.facts.part(Split::test).size, 0);
  std::vector<Token> tokens(20);
  joined.tokens.read(0, tokens);
  EXPECT_EQ(joined.facts.spelling.decode(tokens), "abcdefghijklmnopqrst");
}

TEST(PreparedText, the_same_text_gives_the_same_bytes_wherever_it_lies) {
  const Prepared one(text_of(300, 900)), other(text_of(300, 900));
  EXPECT_EQ(bytes_in(one.path), bytes_in(other.path));
  EXPECT_EQ(one.write(), other.write());
  EXPECT_EQ(bytes_in(one.path), bytes_in(other.path));
}

/// The whole file, with its seal, as HDF5 makes it of tokens in memory.
template <class Stored>
std::string whole_file(const DividedText& text) {
  core::Hdf5File file = core::Hdf5File::in_memory("whole");
  file.set_attribute("/", "format", std::int64_t(1));
  file.set_attribute("/", "units", text.facts.unit() + "s");
  std::vector<Token> tokens(std::size_t(text.tokens.size()));
  text.tokens.read(0, tokens);
  file.write<Stored>("tokens", {text.tokens.size()},
                     std::vector<Stored>(tokens.begin(), tokens.end()));
  if (const auto& alphabet = text.facts.spelling.alphabet())
    file.write<std::int32_t>(
        "alphabet", {alphabet->size()},
        std::vector<std::int32_t>(alphabet->characters().begin(), alphabet->characters().end()));
  std::vector<std::int64_t> splits;
  for (const TokenRange& part : text.facts.parts)
    splits.insert(splits.end(), {part.begin, part.size});
  file.write<std::int64_t>("splits", {3, 2}, splits);
  for (std::size_t i = 0; i < text.facts.origins.size(); ++i) {
    const std::string group = "sources/" + std::to_string(i);
    file.set_attribute(group, "name", text.facts.origins[i].name);
    file.set_attribute(group, "bytes", std::int64_t(text.facts.origins[i].bytes));
    file.set_attribute(group, "xxh3_128", text.facts.origins[i].fingerprint);
  }
  const auto image = file.image();
  return std::string(reinterpret_cast<const char*>(image.data()), image.size()) +
         core::seal_of(image);
}

TEST(PreparedText, is_byte_for_byte_what_hdf5_makes_of_the_text_in_memory) {
  const auto expect_equal = [](const Prepared& prepared, auto stored) {
    const std::string whole = whole_file<decltype(stored)>(read_divided_text(prepared.division()));
    EXPECT_TRUE(bytes_in(prepared.path) == whole) << prepared.file.path();
  };
  for (const Index size : {1, 500, 3000, 200000}) {
    expect_equal(Prepared(std::string(std::size_t(size), 'x'), Unit::bytes), std::uint8_t());
    expect_equal(Prepared(text_of(40, size)), std::uint8_t());
  }
  expect_equal(Prepared(text_of(300, 9000)), std::uint16_t());
  expect_equal(Prepared(text_of(70000, 90000)), std::int32_t());
}

TEST(PreparedText, tokens_take_as_few_bytes_as_the_alphabet_allows) {
  for (const auto& [kinds, bytes] : {std::pair{256, 1}, {257, 2}, {65537, 4}}) {
    const Prepared prepared(text_of(kinds, 70000));
    const Index size = Index(std::filesystem::file_size(prepared.path));
    EXPECT_GT(size, 70000 * bytes);
    EXPECT_LT(size, 70000 * bytes + kinds * 4 + 16384);
  }
}

TEST(PreparedText, tells_where_it_came_from) {
  const Prepared prepared(text_of(40, 100));
  const auto file = core::Hdf5File::open(prepared.path);
  EXPECT_EQ(std::get<std::string>(file.attribute("sources/0", "name")), "text.txt");
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("sources/0", "bytes")), 100);
  EXPECT_EQ(file.read<std::int64_t>("splits"), (std::vector<std::int64_t>{0, 60, 60, 30, 90, 10}));
}

TEST(PreparedText, fingerprints_tell_texts_apart) {
  const Prepared one(text_of(40, 100)), other(text_of(41, 100));
  EXPECT_NE(one.write(), other.write());
  EXPECT_NE(Text(one.settings, 8, 2, 1).fingerprint(), Text(other.settings, 8, 2, 1).fingerprint());
  EXPECT_EQ(Text(one.settings, 8, 2, 1).fingerprint(), Text(one.settings, 8, 4, 2).fingerprint());
  EXPECT_NE(Text(one.settings, 8, 2, 1).fingerprint(), Text(one.settings, 9, 2, 1).fingerprint());
}

TEST(PreparedText, a_file_cut_anywhere_is_refused) {
  const Prepared prepared(text_of(40, 5000));
  const std::string whole = bytes_in(prepared.path);
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 23) {
    std::ofstream(prepared.path, std::ios::binary) << whole.substr(0, size);
    expect_says(refusal_of([&] { open_prepared_text(prepared.path); }), core::Fault::data,
                prepared.path, "weft data prepare");
  }
}

TEST(PreparedText, a_byte_changed_anywhere_is_refused) {
  const Prepared prepared(text_of(40, 1000));
  const std::string whole = bytes_in(prepared.path);
  for (std::size_t at = 0; at < whole.size(); at += 17) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 0x11);
    std::ofstream(prepared.path, std::ios::binary) << changed;
    expect_says(refusal_of([&] { open_prepared_text(prepared.path); }), core::Fault::data,
                prepared.path, "weft data prepare");
  }
}

/// Puts other splits into a prepared text, and a seal that is right for them.
void change_splits(const std::string& path, const std::vector<std::int64_t>& splits) {
  const auto bytes_of = [](const std::vector<std::int64_t>& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()),
                       numbers.size() * sizeof numbers[0]);
  };
  const std::string old = bytes_of(core::Hdf5File::open(path).read<std::int64_t>("splits"));
  std::string bytes = bytes_in(path);
  const std::size_t at = bytes.find(old);
  ASSERT_TRUE(at != std::string::npos && at == bytes.rfind(old)) << "not at one place";
  bytes.replace(at, old.size(), bytes_of(splits));
  bytes.erase(bytes.rfind("weft-seal"));
  bytes += core::seal_of(std::as_bytes(std::span(bytes)));
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(PreparedText, a_well_sealed_file_with_overlapping_splits_is_refused) {
  const Prepared prepared(text_of(40, 100));
  for (const std::vector<std::int64_t>& splits : {std::vector<std::int64_t>{0, 60, 59, 30, 90, 10},
                                                  {0, 60, 0, 60, 90, 10},
                                                  {0, 60, 60, 30, 0, 100},
                                                  {0, 100, 60, 30, 95, 5},
                                                  {0, 60, 60, 30, 70, 1}}) {
    change_splits(prepared.path, splits);
    expect_says(refusal_of([&] { open_prepared_text(prepared.path); }), core::Fault::data,
                prepared.path, "splits that overlap", "weft data prepare");
  }
  // Splits may leave text out, come in any order, and be empty anywhere.
  for (const std::vector<std::int64_t>& splits : {std::vector<std::int64_t>{0, 60, 60, 30, 90, 10},
                                                  {40, 60, 10, 30, 0, 10},
                                                  {0, 60, 70, 10, 90, 10},
                                                  {0, 100, 100, 0, 0, 0}}) {
    change_splits(prepared.path, splits);
    const PreparedText text = open_prepared_text(prepared.path);
    EXPECT_EQ(text.facts.part(Split::training).begin, splits[0]);
    EXPECT_EQ(text.facts.part(Split::test).size, splits[5]);
  }
}

TEST(PreparedText, splits_beyond_the_tokens_or_below_nothing_are_refused) {
  const Prepared prepared(text_of(40, 100));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<std::int64_t>& splits : {std::vector<std::int64_t>{0, 101, 0, 0, 0, 0},
                                                  {-1, 10, 60, 30, 90, 10},
                                                  {0, -1, 60, 30, 90, 10},
                                                  {50, most, 0, 0, 0, 0},
                                                  {most, most, 0, 0, 0, 0}}) {
    change_splits(prepared.path, splits);
    expect_says(refusal_of([&] { open_prepared_text(prepared.path); }), core::Fault::data,
                "splits beyond its 100 tokens");
  }
}

TEST(PreparedText, a_well_sealed_file_with_wrong_tokens_is_refused_when_they_are_read) {
  const Prepared prepared(text_of(40, 1000));
  std::string bytes = bytes_in(prepared.path);
  const auto begin = core::Hdf5File::open(prepared.path).place<std::uint8_t>("tokens");
  ASSERT_TRUE(begin.has_value());
  bytes.replace(std::size_t(*begin), 1000, std::string(1000, '\x63'));
  bytes.erase(bytes.rfind("weft-seal"));
  bytes += core::seal_of(std::as_bytes(std::span(bytes)));
  std::ofstream(prepared.path, std::ios::binary) << bytes;
  const Text text(prepared.settings, 16, 2, 1);
  expect_says(refusal_of([&] { text.training(0); }), core::Fault::data, "token 99",
              "outside its 40");
}

TEST(PreparedText, what_is_no_prepared_text_is_refused) {
  const ScratchFile file("some text");
  expect_says(refusal_of([&] { open_prepared_text(file.folder() + "/none.h5"); }),
              core::Fault::data, "does not exist", "weft data prepare");
  expect_says(refusal_of([&] { open_prepared_text(file.path()); }), core::Fault::data, file.path(),
              "weft data prepare");
}

TEST(PreparedText, a_file_cut_while_in_use_is_an_error_and_no_crash) {
  const Prepared prepared(text_of(40, 50000));
  const Text text(prepared.settings, 16, 2, 1);
  std::filesystem::resize_file(prepared.path, 100);
  expect_says(refusal_of([&] { text.training(0); }), core::Fault::data, prepared.path, "in use");
}

}  // namespace
}  // namespace weft::data::prepared_text_test
