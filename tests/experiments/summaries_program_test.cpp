// What users meet of summaries: training, generated targets and their scores, beam search,
// resuming, and files with mistakes.
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace weft::experiments::summaries_program_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* marked_config = R"(
[data]
kind = "marked"
length = 16
source = 48
symbols = 4
least = 2
most = 4
marks = 2
held_out = 8

[model]
task = "seq2seq"
layers = 1
width = 16
heads = 2
encoder_attention = "longformer"

[attention.longformer]
window = [8]
positions = [0]

[train]
steps = 12
batch = 4
)";

constexpr const char* pairs_config = R"(
[data]
kind = "pairs"
path = "pairs.tsv"
length = 8
source_length = 12

[model]
task = "seq2seq"
layers = 1
width = 16
heads = 2

[optim]
lr = 1e-2

[train]
steps = 40
batch = 8
)";

std::string pair_lines() {
  std::string lines;
  for (int i = 0; i < 40; ++i)
    lines += "text number " + std::to_string(i) + "\tno " + std::to_string(i % 2) + "\n";
  return lines;
}

TEST(Summaries, marked_sentences_are_generated_and_compared_by_rouge) {
  const Program program("marked");
  program.write("config.toml", marked_config);
  const Outcome trained = program.run({"train", "config.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  expect_holds(trained.out, {"summary: "});
  const Outcome shown =
      program.run({"eval", "run", "--json", "--generate", "--predictions", "summaries.json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto generated = nlohmann::json::parse(shown.out)["generated"];
  EXPECT_EQ(generated["targets"], 8);
  for (const char* name : {"rouge_1", "rouge_2", "rouge_l", "exact"}) {
    EXPECT_GE(double(generated[name]), 0);
    EXPECT_LE(double(generated[name]), 1);
  }
  EXPECT_EQ(nlohmann::json::parse(read_text(program.directory() / "summaries.json")).size(), 8u);
  expect_holds(program.run({"eval", "run", "--generate"}).out, {"ROUGE-1", "ROUGE-L", "exact"});
}

TEST(Summaries, beam_search_shows_its_targets_and_refuses_what_it_cannot_do) {
  const Program program("beams");
  program.write("config.toml", marked_config);
  program.write("document.txt", "*0abc.bad.\n");
  program.write("tiny.toml", tiny_config);
  ASSERT_EQ(program.run({"train", "config.toml", "--run", "run"}).code, 0);
  const Words generate = {"generate", "run", "--prompt-file", "document.txt",
                          "--beams",  "3",   "--tokens",      "10"};
  const Outcome shown = program.run(generate);
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_GE(std::ranges::count(shown.out, '\n'), 1) << shown.out;
  EXPECT_LE(std::ranges::count(shown.out, '\n'), 3) << shown.out;
  EXPECT_EQ(shown.out, program.run(generate).out);
  EXPECT_EQ(program.run({"generate", "run", "--prompt", "abc", "--temperature", "0"}).code, 0);
  const Outcome longer = program.run({"generate", "run", "--prompt", std::string(60, 'a')});
  EXPECT_EQ(longer.code, 2);
  expect_holds(longer.err, {"60 tokens", "positions end at 48"});
  ASSERT_EQ(program.run({"train", "tiny.toml", "--run", "tiny", "train.steps=5"}).code, 0);
  const Outcome language = program.run({"generate", "tiny", "--prompt", "abc", "--beams", "2"});
  EXPECT_EQ(language.code, 2);
  expect_holds(language.err, {"model.task = \"seq2seq\""});
  EXPECT_EQ(program.run({"eval", "tiny", "--generate"}).code, 2);
  EXPECT_EQ(program.run({"eval", "tiny", "--predictions", "x.json"}).code, 2);
}

TEST(Summaries, pairs_are_read_cut_and_summarised) {
  const Program program("pairs");
  program.write("config.toml", pairs_config);
  program.write("pairs.tsv", pair_lines());
  const Outcome trained = program.run({"train", "config.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  expect_holds(trained.out, {"40 pairs", "% of sources are cut at 12 tokens", "bits per byte"});
  expect_holds(program.run({"eval", "run", "--generate", "--split", "test"}).out, {"ROUGE-2"});
}

TEST(Summaries, references_with_lines_are_also_compared_line_by_line) {
  const Program program("lines");
  program.write("config.toml", pairs_config);
  std::string plain, lined;
  for (int i = 0; i < 40; ++i) {
    const std::string source = "text number " + std::to_string(i);
    plain += nlohmann::json{{"source", source}, {"target", "a b"}}.dump() + "\n";
    lined += nlohmann::json{{"source", source}, {"target", "a\nb"}}.dump() + "\n";
  }
  program.write("plain.jsonl", plain);
  program.write("lined.jsonl", lined);
  const auto generated = [&](const std::string& name) {
    const Outcome trained = program.run({"train", "config.toml", "--run", name,
                                         "data.path=" + name + ".jsonl", "data.format=json"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    const Outcome shown = program.run({"eval", name, "--generate", "--json"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    return nlohmann::json::parse(shown.out)["generated"];
  };
  EXPECT_FALSE(generated("plain").contains("rouge_lsum"));
  const auto with_lines = generated("lined");
  EXPECT_GE(double(with_lines["rouge_lsum"]), double(with_lines["rouge_l"]));
  expect_holds(program.run({"eval", "lined", "--generate"}).out, {", ROUGE-Lsum "});
  EXPECT_EQ(program.run({"eval", "plain", "--generate"}).out.find("Lsum"), std::string::npos);
}

TEST(Summaries, resumed_runs_continue_bit_for_bit) {
  const Program program("summaries-resume");
  program.write("pairs.tsv", pair_lines());
  for (const char* config : {marked_config, pairs_config}) {
    program.write("config.toml", config);
    const Outcome outcome =
        program.run({"verify-resume", "config.toml", "--at", "4", "--steps", "8"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
}

TEST(Summaries, bad_lines_exit_4_and_name_the_line) {
  const Program program("bad-pairs");
  program.write("config.toml", pairs_config);
  program.write("pairs.tsv", pair_lines() + "only a source\n");
  const Outcome columns = program.run({"train", "config.toml", "--run", "run"});
  EXPECT_EQ(columns.code, 4);
  expect_holds(columns.err, {"pairs.tsv:41", "has 1 column", "remove the line"});
  const Outcome json = program.run({"train", "config.toml", "--run", "run", "data.format=json"});
  EXPECT_EQ(json.code, 4);
  expect_holds(json.err, {"pairs.tsv:1", "no valid JSON"});
  EXPECT_EQ(program.run({"train", "config.toml", "data.path=absent.tsv"}).code, 4);
}

TEST(Summaries, sources_need_a_model_that_reads_them) {
  const Program program("pairs-refusals");
  program.write("config.toml", marked_config);
  const Outcome outcome = program.run({"config", "config.toml", "model.task=language"});
  EXPECT_EQ(outcome.code, 2);
  expect_holds(outcome.err, {"data.kind", "model.task = \"seq2seq\""});
}

}  // namespace
}  // namespace weft::experiments::summaries_program_test
