#include "data/text/document_text.h"

#include "data/documents/document_file.h"
#include "data/documents/document_split.h"
#include "data/text/character_survey.h"
#include "data/text/text.h"
#include "tests/data/refusal.h"
#include "tests/data/scratch_file.h"

namespace weft::data::document_text_test {
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

/// A text of documents, put together from whole files, documents and joined texts in memory.
struct WholeText {
  std::vector<Token> tokens;
  std::array<Index, 3> sizes{}, documents{};
};

WholeText in_memory(const TextDivision& division, const TextDocuments& how) {
  std::array<std::vector<std::string>, 3> texts;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::string> own;
    for (const std::string& path : division.paths[i])
      for (const DocumentFile file(read_text_file(path), how.rule); const auto text : file.texts())
        own.emplace_back(text);
    std::vector<Split> splits(own.size(), Split(i));
    std::vector<Index> sizes;
    for (const std::string& text : own) sizes.push_back(Index(text.size()));
    if (division.fractions && i == 0)
      splits = split_documents(sizes, *division.fractions, how.seed);
    for (std::size_t k = 0; k < own.size(); ++k) texts[std::size_t(splits[k])].push_back(own[k]);
  }
  const bool line = how.rule.form == DocumentRule::Form::lines && how.rule.field.empty();
  std::array<std::string, 3> joined;
  for (std::size_t i = 0; i < 3; ++i)
    for (const std::string& text : texts[i]) {
      joined[i] += text;
      if (how.boundaries) continue;
      for (const std::string_view end : {"\n", "\n\n"})
        if (!text.empty() && !joined[i].ends_with(end) && (end.size() == 1 || !line))
          joined[i] += '\n';
    }
  const Spelling spelling = division.units.kind == Unit::bytes
                                ? Spelling::bytes()
                                : Spelling(alphabet_of({"all", joined[0] + joined[1] + joined[2]}));
  WholeText whole;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<Token> tokens;
    const auto add = [&](const std::string& text) {
      const std::vector<Token> found = spelling.encode(text);
      tokens.insert(tokens.end(), found.begin(), found.end());
    };
    const Token boundary = Token(spelling.vocabulary());
    if (!how.boundaries) add(joined[i]);
    if (how.boundaries && !texts[i].empty()) tokens.push_back(boundary);
    for (const std::string& text : texts[i]) {
      if (!how.boundaries) break;
      add(text);
      tokens.push_back(boundary);
    }
    whole.sizes[i] = Index(tokens.size());
    whole.documents[i] = Index(texts[i].size());
    whole.tokens.insert(whole.tokens.end(), tokens.begin(), tokens.end());
  }
  return whole;
}

TEST(DocumentText, that_is_read_in_pieces_is_the_one_put_together_in_memory) {
  std::string blank, json;
  for (int i = 0; i < 60; ++i) {
    blank += "\n paragraph " + std::string(std::size_t(i * i), 'e') + "é" + "\n\n" +
             (i % 3 ? "more of it\n \n" : "");
    json += "{\"t\": \"" + std::string(i % 7 ? "told\\n" : "") + (i % 5 ? "é\"}\n" : "\\n\"}\n\n");
  }
  const ScratchFile first(blank), second("last, without an end"), third(json);
  struct Case {
    std::array<std::vector<std::string>, 3> paths;
    DocumentRule rule;
    bool drawn;
  };
  using Form = DocumentRule::Form;
  const std::vector<std::string> texts = {first.path(), second.path(), first.path()},
                                 records = {third.path()};
  for (const Case& one :
       {Case{{texts}, {Form::lines}, true}, Case{{texts}, {Form::blank}, true},
        Case{{texts}, {Form::files}, true}, Case{{records}, {Form::lines, "t"}, true},
        Case{{{texts, {second.path()}, {}}}, {Form::blank}, false}})
    for (const Unit unit : {Unit::bytes, Unit::characters})
      for (const bool boundaries : {false, true}) {
        TextDivision division{.paths = one.paths, .units = {.kind = unit}};
        if (one.drawn) division.fractions = {0.4, 0.3, 0.3};
        const TextDocuments how{.rule = one.rule, .boundaries = boundaries, .seed = 3};
        const WholeText expected = in_memory(division, how);
        const DocumentText found = read_document_text(division, how);
        std::vector<Token> tokens(std::size_t(found.tokens.size()));
        found.tokens.read(0, tokens);
        EXPECT_TRUE(tokens == expected.tokens) << one.rule.words() << ' ' << name_of(unit);
        EXPECT_EQ(found.facts.documents, expected.documents);
        for (const Split split : {Split::training, Split::validation, Split::test})
          EXPECT_EQ(found.facts.text.part(split).size, expected.sizes[std::size_t(split)]);
      }
}

TEST(DocumentText, of_fewer_documents_than_splits_is_refused) {
  const ScratchFile file("one document\nis all there is in this file\n");
  expect_says(refusal_of([&] { Text(settings_for(file.path(), Documents::files), 8, 2, 1); }),
              core::Fault::data, "1 documents");
}

}  // namespace
}  // namespace weft::data::document_text_test
