// What users see of a trained model: which keys its heads read.
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

#include "tests/experiments/program.h"

namespace weft::experiments::show_test {
namespace {

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

const char* const small = R"(
[data]
length = 24
[model]
layers = 2
width = 16
heads = 2
[optim]
warmup = 1
[train]
steps = 2
batch = 2
)";

/// A trained run that is shown.
class Row8 : public testing::Test {
 protected:
  Row8() { program.write("c.toml", small); }

  void train(const std::string& run, std::vector<std::string> settings = {}) const {
    settings.insert(settings.begin(), {"train", "c.toml", "--run", run});
    const Outcome outcome = program.run(settings);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  /// The page of what a run reads.
  std::string page(const std::string& run, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"show", run, "-o", "page.html"});
    const Outcome outcome = program.run(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string text = read_text(program.directory() / "page.html");
    std::istringstream stream(text);
    boost::property_tree::ptree tree;
    EXPECT_NO_THROW(boost::property_tree::read_xml(stream, tree));
    for (const char* const outside : {"<script", "https:", "@import"})
      EXPECT_EQ(text.find(outside), std::string::npos) << outside;
    return text;
  }

  const Program program{"show"};
};

TEST_F(Row8, a_page_has_a_tile_for_every_head_and_the_keys_of_a_token) {
  train("r");
  const std::string text = page("r");
  EXPECT_EQ(occurrences(text, "<g class=\"weights\">"), 4u);
  EXPECT_EQ(occurrences(text, "<div class=\"read\">"), 4u);
  EXPECT_GT(occurrences(text, "class=\"key "), 8u);
  // The strongest colours leave the letters on them readable.
  EXPECT_GE(occurrences(text, "--w:0.50"), 4u);
  for (const char* const beyond : {"--w:0.51", "--w:0.6", "--w:0.7", "--w:0.8"})
    EXPECT_EQ(occurrences(text, beyond), 0u);
  EXPECT_EQ(occurrences(text, "class=\"edge\""), 0u);
}

TEST_F(Row8, buckets_clusters_and_spans_are_drawn) {
  train("hashed", {"model.attention=lsh", "attention.lsh.buckets=4", "attention.lsh.rounds=2",
                   "attention.lsh.chunk=8"});
  const std::string hashed = page("hashed");
  EXPECT_GE(occurrences(hashed, "<g class=\"group"), 4u * 2 * 2) << "heads, rounds, both sides";
  EXPECT_EQ(occurrences(hashed, "4 buckets in 2 rounds"), 8u) << "captions and the table";
  train("routed", {"model.attention=routing", "attention.routing.clusters=3"});
  EXPECT_GE(occurrences(page("routed"), "<g class=\"group"), 4u * 2);
  train("spans", {"model.attention=fixed_span", "attention.fixed_span.span=6"});
  EXPECT_EQ(occurrences(page("spans"), "class=\"edge\""), 4u);
}

TEST_F(Row8, a_text_is_read_in_the_place_of_the_data) {
  program.write("text.txt",
                std::string(30, 'a') + " quick brown fox jumps over the lazy dog again and again");
  train("r", {"data.kind=text", "data.path=text.txt", "data.fractions=[0.4,0.3,0.3]"});
  std::filesystem::remove(program.directory() / "text.txt");
  const std::string text = page("r", {"--text", "fox <dog>"});
  EXPECT_NE(text.find("fox &lt;dog&gt;"), std::string::npos);
  const Outcome long_one =
      program.run({"show", "r", "--text", std::string(40, 'a'), "-o", "long.html"});
  ASSERT_EQ(long_one.code, 0) << long_one.err;
  EXPECT_NE(read_text(program.directory() / "long.html").find("16 tokens behind these were left"),
            std::string::npos);
  EXPECT_EQ(program.run({"show", "r"}).code, 4) << "the data is gone";
}

TEST_F(Row8, every_task_is_shown) {
  program.write("text.txt",
                std::string(30, 'a') + " quick brown fox jumps over the lazy dog again and again");
  const std::vector<std::vector<std::string>> tasks = {
      {"data.kind=listops", "data.length=48", "data.shortest=12", "model.task=classify"},
      {"data.kind=shapes", "data.length=256", "model.positions=image", "sample.tokens=4"},
      {"data.kind=text", "data.path=text.txt", "data.fractions=[0.4,0.3,0.3]", "data.masking=bert",
       "model.causal=false"}};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    SCOPED_TRACE(tasks[i][0]);
    const std::string run = "r" + std::to_string(i);
    train(run, tasks[i]);
    EXPECT_EQ(occurrences(page(run), "<g class=\"weights\">"), 4u);
  }
}

TEST_F(Row8, a_sequence_to_sequence_model_shows_both_sides_and_their_crossing) {
  train("r", {"data.kind=marked", "data.source=20", "data.length=12", "data.symbols=9",
              "data.least=1", "data.most=3", "data.marks=1", "model.task=seq2seq"});
  const std::string text = page("r");
  EXPECT_EQ(occurrences(text, "<h2>Encoder, layer"), 2u);
  EXPECT_EQ(occurrences(text, "<h2>Decoder, layer"), 2u);
  EXPECT_EQ(occurrences(text, "<h2>Cross attention, layer"), 2u);
}

TEST_F(Row8, the_table_on_the_terminal_has_a_line_for_each_head) {
  train("r", {"model.attention=local", "attention.local.window=4"});
  const Outcome shown = program.run({"show", "r"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(occurrences(shown.out, "local"), 4u) << shown.out;
  EXPECT_NE(shown.out.find("keys read"), std::string::npos) << shown.out;
}

TEST_F(Row8, the_terminal_draws_what_each_head_reads) {
  train("r", {"model.attention=local", "attention.local.window=4"});
  const std::string drawn = program.run({"show", "r"}).out;
  for (const char* const layer : {"layer 1", "layer 2"})
    EXPECT_NE(drawn.find(std::string(layer) + ", head 1"), std::string::npos) << drawn;
  // 24 tokens in 24 columns: a line for two queries, of which the last two read five keys.
  const std::size_t at = drawn.find("layer 1, head 1");
  std::istringstream lines(drawn.substr(at));
  std::string line;
  for (int i = 0; i < 13; ++i) std::getline(lines, line);
  const std::string first = line.substr(0, line.find("  ", line.find_first_not_of(' ')));
  EXPECT_EQ(first.find_first_not_of(' '), 24u - 5) << drawn;
  EXPECT_EQ(occurrences(first, "\xE2\x96"), 5u) << drawn;
  EXPECT_EQ(occurrences(program.run({"show", "r", "-o", "heads.svg"}).out, "\xE2\x96"), 0u);
  train("many", {"model.layers=5", "model.heads=4"});
  const std::string part = program.run({"show", "many"}).out;
  EXPECT_NE(part.find("and 8 more heads"), std::string::npos) << part;
  EXPECT_EQ(part.find("layer 4, head 1\n"), std::string::npos) << part;
}

TEST_F(Row8, what_cannot_be_shown_is_refused) {
  train("r");
  const Outcome ending = program.run({"show", "r", "-o", "page.gif"});
  EXPECT_EQ(ending.code, 2);
  EXPECT_NE(ending.err.find(".html, .svg, .pdf or .png"), std::string::npos) << ending.err;
  const Outcome sample = program.run({"show", "r", "--sample", "1000"});
  EXPECT_EQ(sample.code, 2);
  EXPECT_NE(sample.err.find("sequences"), std::string::npos) << sample.err;
}

TEST_F(Row8, a_star_says_that_it_has_no_attention_to_show) {
  program.write(
      "star.toml",
      "[data]\nkind = \"listops\"\nlength = 32\nshortest = 8\nheld_out = 8\n[model]\ntask = "
      "\"classify\"\npool = \"max+root\"\ntrunk = \"star\"\nlayers = 1\nwidth = 8\n"
      "heads = 2\n[train]\nsteps = 2\nbatch = 2\n");
  const Outcome trained = program.run({"train", "star.toml", "--run", "star"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome refused = program.run({"show", "star"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("a star has a ring and a relay and no attention"), std::string::npos)
      << refused.err;
}

TEST_F(Row8, pictures_are_files_that_carry_their_colours) {
  train("r");
  ASSERT_EQ(program.run({"show", "r", "-o", "heads.svg"}).code, 0);
  const std::string svg = read_text(program.directory() / "heads.svg");
  EXPECT_EQ(occurrences(svg, "<g class=\"weights\">"), 4u);
  EXPECT_EQ(svg.find("var(--"), std::string::npos);
  std::istringstream stream(svg);
  boost::property_tree::ptree tree;
  EXPECT_NO_THROW(boost::property_tree::read_xml(stream, tree));
}

}  // namespace
}  // namespace weft::experiments::show_test
