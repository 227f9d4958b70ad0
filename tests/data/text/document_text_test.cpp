#include "data/text/document_text.h"

#include "data/text/text.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data {
namespace {

using Documents = TextSettings::Documents;

/// Forty documents of one line each, all different.
std::string forty_lines() {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "document " + std::to_string(i) + std::string(std::size_t(i), '.') + "\n";
  return text;
}

TextSettings settings_for(const std::string& path, Documents documents) {
  TextSettings settings;
  settings.files.path = path;
  settings.files.fractions = {0.6, 0.2, 0.2};
  settings.documents = documents;
  return settings;
}

std::vector<Token> all_tokens(const Text& text, Split split) {
  std::vector<Token> tokens(std::size_t(text.tokens(split)));
  text.read(split, 0, tokens);
  return tokens;
}

TEST(DocumentText, keeps_documents_apart_by_a_token_before_and_after_each) {
  const ScratchFile file(forty_lines());
  const Text text(settings_for(file.path(), Documents::lines), 8, 2, 1);
  EXPECT_EQ(text.vocabulary(), 257);
  EXPECT_EQ(text.document_end(), 256);
  std::vector<std::string> found;
  for (const Split split : {Split::training, Split::validation, Split::test}) {
    const std::vector<Token> tokens = all_tokens(text, split);
    ASSERT_FALSE(tokens.empty());
    EXPECT_EQ(tokens.front(), 256);
    EXPECT_EQ(tokens.back(), 256);
    for (auto begin = tokens.begin() + 1; begin != tokens.end();) {
      const auto end = std::find(begin, tokens.end(), 256);
      found.push_back(text.decode({&*begin, std::size_t(end - begin)}));
      begin = end + 1;
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> expected;
  const std::string all = forty_lines();
  for (std::size_t at = 0; at < all.size(); at = all.find('\n', at) + 1)
    expected.push_back(all.substr(at, all.find('\n', at) + 1 - at));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST(DocumentText, shows_boundaries_as_line_ends_and_counts_no_bytes_for_them) {
  const ScratchFile file(forty_lines());
  const Text text(settings_for(file.path(), Documents::lines), 8, 2, 1);
  EXPECT_EQ(text.decode(std::vector<Token>{256, 'a', 256, 256, 'b'}), "\na\n\nb");
  EXPECT_EQ(text.text_bytes(256), 0);
  EXPECT_EQ(text.text_bytes('a'), 1);
}

TEST(DocumentText, splits_do_not_depend_on_the_seed_of_the_run_but_on_the_settings) {
  const ScratchFile file(forty_lines());
  const Text one(settings_for(file.path(), Documents::lines), 8, 2, 1),
      two(settings_for(file.path(), Documents::lines), 8, 2, 2),
      blank(settings_for(file.path(), Documents::none), 8, 2, 1);
  EXPECT_EQ(all_tokens(one, Split::test), all_tokens(two, Split::test));
  EXPECT_EQ(one.fingerprint(), two.fingerprint());
  EXPECT_NE(one.fingerprint(), blank.fingerprint());
}

TEST(DocumentText, reads_json_lines_and_whole_files) {
  std::string json;
  for (int i = 0; i < 20; ++i)
    json += "{\"id\": " + std::to_string(i) + ", \"text\": \"told \\u00e9 " + std::to_string(i) +
            "\"}\n";
  const ScratchFile file(json);
  TextSettings settings = settings_for(file.path(), Documents::lines);
  settings.field = "text";
  settings.units.kind = Unit::characters;
  const Text records(settings, 8, 2, 1);
  EXPECT_EQ(records.decode(all_tokens(records, Split::test)).find('{'), std::string::npos);
  EXPECT_NE(records.decode(all_tokens(records, Split::test)).find("told é"), std::string::npos);
  for (const char* const name : {"b.txt", "c.txt", "d.txt"})
    std::ofstream(file.folder() + "/" + name) << "a whole file, with two lines\nin it: " << name;
  const Text files(settings_for(file.folder(), Documents::files), 8, 2, 1);
  Index boundaries = 0;
  for (const Split split : {Split::training, Split::validation, Split::test})
    boundaries += std::ranges::count(all_tokens(files, split), 256);
  EXPECT_EQ(boundaries, 4 + 3);  // after each of the files, and where each split begins
  settings.field = "body";
  expect_says(refusal_of([&] { Text(settings, 8, 2, 1); }), core::Fault::data, "body", ":1");
}

TEST(DocumentText, of_fewer_documents_than_splits_is_refused) {
  const ScratchFile file("one document\nis all there is in this file\n");
  expect_says(refusal_of([&] { Text(settings_for(file.path(), Documents::files), 8, 2, 1); }),
              core::Fault::data, "1 documents");
}

}  // namespace
}  // namespace weft::data
