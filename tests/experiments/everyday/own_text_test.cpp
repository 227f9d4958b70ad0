// A user's own text, as it is: cut into documents, deduplicated and drawn into splits.
#include "data/text/prepared_text.h"
#include "tests/experiments/program.h"

namespace weft::experiments::own_text_test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Row3, documents_of_every_file_reach_every_split_and_nothing_is_dropped_silently) {
  const Program program("own_text");
  std::string first, second;
  for (int i = 0; i < 100; ++i) first += "aaaa\naa\n\n", second += "bbbb\nbb\n\n";
  program.write("a.txt", first);
  program.write("b.txt", second);
  const Outcome outcome =
      program.run({"data", "prepare", "a.txt", "b.txt", "-o", "t.h5", "--documents", "blank"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out,
                  "200 documents, each what empty lines divide: training 180, "
                  "validation 10, test 10, drawn with --seed 1"))
      << outcome.out;
  EXPECT_TRUE(has(outcome.out, "1800 bytes, 3 different;")) << outcome.out;  // Papercut15
  const data::PreparedText text = data::open_prepared_text((program.directory() / "t.h5").string());
  for (const data::Split split : {data::Split::validation, data::Split::test}) {
    const data::TokenRange part = text.facts.part(split);
    std::vector<core::Token> tokens(std::size_t(part.size));
    text.tokens->read(part.begin, tokens);
    EXPECT_NE(std::ranges::find(tokens, 'a'), tokens.end());
    EXPECT_NE(std::ranges::find(tokens, 'b'), tokens.end());
  }
  const Outcome lines =
      program.run({"data", "prepare", "a.txt", "-o", "l.h5", "--documents", "lines"});
  EXPECT_TRUE(has(lines.out, "100 empty lines are no documents and were left out")) << lines.out;
  const Outcome cut =
      program.run({"data", "prepare", "a.txt", "-o", "c.h5", "--fractions", "0.5,0.1,0"});
  EXPECT_TRUE(has(cut.out, "360 bytes at the end are in no split")) << cut.out;
}

TEST(Row3, what_dedup_writes_prepare_reads) {
  const Program program("dedup_prepare");
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += "{\"text\": \"number " + std::to_string(i / 2) + "\\nends here\"}\n";
  program.write("in.jsonl", lines);
  const Outcome dedup =
      program.run({"data", "dedup", "in.jsonl", "-o", "out.jsonl", "--field", "text"});
  ASSERT_EQ(dedup.code, 0) << dedup.err;
  EXPECT_TRUE(has(dedup.out, "40 documents: 20 kept")) << dedup.out;
  const Outcome prepared =
      program.run({"data", "prepare", "out.jsonl", "-o", "t.h5", "--field", "text", "--seed", "7"});
  ASSERT_EQ(prepared.code, 0) << prepared.err;
  EXPECT_TRUE(has(prepared.out, "20 documents, each the field \"text\" of a line")) << prepared.out;
  const Outcome paragraphs =
      program.run({"data", "dedup", "in.jsonl", "-o", "p.txt", "--documents", "blank"});
  EXPECT_TRUE(has(paragraphs.out, "a document is what empty lines divide")) << paragraphs.out;
  EXPECT_TRUE(has(paragraphs.out, "1 documents: 1 kept")) << paragraphs.out;
}

}  // namespace
}  // namespace weft::experiments::own_text_test
