#include "data/documents/document_split.h"

#include "core/error.h"
#include "core/rng.h"
#include "data/documents/document_file.h"

namespace weft::data::document_split_test {
namespace {

std::vector<std::string> texts_of(const std::string& bytes, const DocumentRule& rule) {
  const DocumentFile file({"file", bytes}, rule);
  std::vector<std::string> texts;
  for (const std::string_view text : file.texts()) texts.emplace_back(text);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Documents, are_lines_paragraphs_files_or_fields) {
  const std::string bytes = "\na\nb\n \n\nc\n";
  EXPECT_EQ(texts_of(bytes, {DocumentRule::Form::lines}), (Texts{"a\n", "b\n", "c\n"}));
  EXPECT_EQ(texts_of(bytes, {DocumentRule::Form::blank}), (Texts{"a\nb\n \n\n", "c\n"}));
  EXPECT_EQ(texts_of(bytes, {DocumentRule::Form::files}), (Texts{"a\nb\n \n\nc\n"}));
  EXPECT_EQ(texts_of("{\"t\": \"x\\ny\"}\n\n{\"t\": \"z\"}", {DocumentRule::Form::lines, "t"}),
            (Texts{"x\ny", "z"}));
  EXPECT_EQ(DocumentFile({"file", bytes}, {}).empty_lines(), 3);
  EXPECT_THROW(DocumentRule::form_named("pages"), core::Error);
}

TEST(Documents, lines_that_are_no_json_of_a_text_are_refused_with_their_number) {
  const DocumentRule rule{DocumentRule::Form::lines, "t"};
  const std::string first = "{\"t\": \"x\"}\n";
  for (const auto& [line, said] :
       {std::pair{std::string("plain words"), "is no valid JSON"},
        {"{\"t\": \"x\", \"n\": 1e999}", "is no valid JSON"},
        {"{\"t\": 3}", "\"t\" is no text"},
        {"{\"u\": \"x\"}", "has no \"t\""},
        {"{\"t\": " + std::string(200, '[') + std::string(200, ']') + "}",
         "is nested more than"}}) {
    try {
      DocumentFile({"file", first + line}, rule);
      FAIL() << line;
    } catch (const core::Error& error) {
      EXPECT_EQ(error.fault(), core::Fault::data);
      EXPECT_NE(std::string(error.what()).find("'file':2: "), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
}

TEST(Documents, go_to_splits_by_their_share_of_the_bytes_whatever_their_order_in_the_file) {
  std::vector<Index> bytes(1000, 50);
  const auto splits = split_documents(bytes, {0.8, 0.1, 0.1}, 1);
  EXPECT_EQ(std::ranges::count(splits, Split::test), 100);
  EXPECT_EQ(std::ranges::count(splits, Split::validation), 100);
  EXPECT_GT(std::ranges::count(splits.begin(), splits.begin() + 200, Split::test), 5);
  EXPECT_EQ(splits, split_documents(bytes, {0.8, 0.1, 0.1}, 1));
  EXPECT_NE(splits, split_documents(bytes, {0.8, 0.1, 0.1}, 2));
}

// Which documents a run holds out must never change.
TEST(Documents, are_taken_in_the_order_of_the_numbers_drawn_for_them) {
  const core::Rng stream = core::Rng(3).fold("documents");
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < 500; ++i) order.emplace_back(stream.uniform(i), i);
  std::ranges::sort(order);
  const auto splits = split_documents(std::vector<Index>(500, 10), {0.7, 0.2, 0.1}, 3);
  for (std::size_t place = 0; place < order.size(); ++place)
    EXPECT_EQ(splits[order[place].second], place < 50    ? Split::test
                                           : place < 150 ? Split::validation
                                                         : Split::training);
}

TEST(Documents, leave_no_split_with_a_share_empty) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto splits = split_documents(std::vector<Index>{900, 5, 80}, {0.98, 0.01, 0.01}, seed);
    for (const Split split : {Split::training, Split::validation, Split::test})
      EXPECT_EQ(std::ranges::count(splits, split), 1);
  }
  EXPECT_THROW(split_documents(std::vector<Index>{1, 2}, {0.8, 0.1, 0.1}, 1), core::Error);
  EXPECT_THROW(split_documents(std::vector<Index>{1, 2, 3}, {0.8, 0.1, 0}, 1), core::Error);
}

}  // namespace
}  // namespace weft::data::document_split_test
