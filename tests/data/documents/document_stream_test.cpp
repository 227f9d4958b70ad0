#include "data/documents/document_stream.h"

#include "core/error.h"
#include "core/rng.h"
#include "data/documents/document_file.h"
#include "tests/data/refusal.h"

namespace weft::data::document_stream_test {
namespace {

using Form = DocumentRule::Form;
using Texts = std::vector<std::string>;

/// The documents, put together from their parts, of a file that arrives in pieces.
Texts streamed(const std::string& bytes, const DocumentRule& rule, std::size_t piece,
               core::Index& empty_lines) {
  Texts texts;
  DocumentStream stream("file", rule, [&](const DocumentPart& part) {
    if (part.begins) texts.emplace_back();
    texts.back() += part.text;
    if (rule.field.empty()) {
      EXPECT_EQ(bytes.substr(std::size_t(part.at), part.text.size()), part.text);
    }
  });
  for (std::size_t at = 0; at < bytes.size(); at += piece) stream.add(bytes.substr(at, piece));
  stream.finish();
  empty_lines = stream.empty_lines();
  return texts;
}

void expect_those_of_the_file(const std::string& bytes, const DocumentRule& rule,
                              const std::vector<std::size_t>& pieces) {
  const DocumentFile file({"file", bytes}, rule);
  Texts expected;
  for (const std::string_view text : file.texts()) expected.emplace_back(text);
  for (const std::size_t piece : pieces) {
    core::Index empty_lines = 0;
    EXPECT_EQ(streamed(bytes, rule, piece, empty_lines), expected) << piece << '\n' << bytes;
    EXPECT_EQ(empty_lines, file.empty_lines()) << piece << '\n' << bytes;
  }
}

TEST(DocumentStream, finds_the_documents_of_the_whole_file_whatever_the_pieces) {
  const std::vector<std::string> lines = {"a", "",   "two words", "  ",   "\t\r",
                                          "",  "b ", " c ",       "\xff", ""};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const core::Rng rng(seed);
    std::string bytes;
    const core::Index count = rng.below(1000, 12);
    for (core::Index i = 0; i < count; ++i) {
      bytes += lines[std::size_t(rng.below(std::uint64_t(i), core::Index(lines.size())))];
      if (i + 1 < count || seed % 2 == 0) bytes += '\n';
    }
    for (const Form form : {Form::lines, Form::blank, Form::files})
      expect_those_of_the_file(bytes, {form}, {1, 2, 3, 1000});
  }
}

TEST(DocumentStream, hands_on_long_lines_in_parts_unless_they_are_json) {
  const std::string words(200000, 'x'), spaces(150000, ' ');
  for (const std::string& bytes : {words + "\n" + words, spaces + "y\n" + spaces + "\nz\n" + words})
    for (const Form form : {Form::lines, Form::blank, Form::files})
      expect_those_of_the_file(bytes, {form}, {1000, 70000});
  std::string json;
  for (const char letter : {'a', 'b'})
    json += "{\"t\": \"" + std::string(150000, letter) + "\"}\n\n";
  expect_those_of_the_file(json, {Form::lines, "t"}, {1000, 70000});
  std::size_t longest = 0;
  DocumentStream stream("file", {Form::files}, [&](const DocumentPart& part) {
    longest = std::max(longest, part.text.size());
  });
  for (int i = 0; i < 200; ++i) stream.add(std::string(1000, 'x'));
  stream.finish();
  EXPECT_LT(longest, 70000u);
}

TEST(DocumentStream, names_the_line_that_lacks_the_field) {
  DocumentStream stream("file", {Form::lines, "t"}, [](const DocumentPart&) {});
  stream.add("{\"t\": \"x\"}\n\n{\"u\"");
  expect_says(refusal_of([&] { stream.add(": \"x\"}\n"); }), core::Fault::data, "'file':3",
              "has no \"t\"");
}

}  // namespace
}  // namespace weft::data::document_stream_test
