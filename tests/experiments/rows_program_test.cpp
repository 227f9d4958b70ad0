// What users meet of attentions that add rows to the tokens, global ones and nodes of a tree:
// training on masked text, as encoders and in reversible stacks, and resuming.
#include <nlohmann/json.hpp>

#include "core/rng.h"
#include "tests/experiments/program.h"

namespace weft::experiments::rows_program_test {
namespace {

using Words = std::vector<std::string>;

const Words attentions = {"etc", "bigbird_etc", "bp"};

constexpr const char* tables = R"(
[attention.etc]
window = 9
every = 8

[attention.bigbird_etc]
kind = "bigbird"
form = "etc"
block = 8
random = 1
every = 8
)";

constexpr const char* masked_config = R"(
[data]
kind = "text"
path = "fruit.txt"
units = "characters"
length = 40
masking = "bert"
fractions = [0.8, 0.1, 0.1]

[model]
causal = false
layers = 2
width = 16
heads = 4
positions = "none"

[optim]
lr = 1e-2

[train]
steps = 500
batch = 4
)";

constexpr const char* summary_config = R"(
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
encoder_attention = "etc"

[train]
steps = 12
batch = 4
)";

/// Three kinds of fruit in random order: what is hidden follows from what is around it.
std::string fruit() {
  const Words kinds = {"red apple", "green pear", "blue plum"};
  std::string text;
  for (std::uint64_t i = 0; i < 600; ++i) text += kinds[core::Rng(1).below(i, 3)] + " ";
  return text;
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_resumed(const Program& program, const Words& config) {
  const Outcome outcome =
      program.run(with({"verify-resume"}, with(config, {"--at", "4", "--steps", "8"})));
  EXPECT_EQ(outcome.code, 0) << config.back() << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos) << config.back() << outcome.out;
}

TEST(RowsBesideTokens, learn_to_fill_in_masked_text) {
  const Program program("rows-learn");
  program.write("fruit.txt", fruit());
  program.write("masked.toml", std::string(masked_config) + tables);
  for (const std::string& attention : attentions) {
    const Outcome trained =
        program.run({"train", "masked.toml", "--run", attention, "model.attention=" + attention});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Outcome scored = program.run({"eval", attention, "--json"});
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_GT(double(nlohmann::json::parse(scored.out)["accuracy"]), 0.7) << attention;
  }
}

TEST(RowsBesideTokens, verify_resume_finds_every_bit_equal) {
  const Program program("rows-resume");
  program.write("fruit.txt", fruit());
  program.write("masked.toml", std::string(masked_config) + tables);
  for (const std::string& attention : attentions)
    for (const char* const form :
         {"model.reversible=false", "model.reversible=true", "train.recompute=true"})
      expect_resumed(program,
                     {"masked.toml", "model.attention=" + attention, "model.dropout=0.1", form});
}

TEST(RowsBesideTokens, read_the_source_of_a_summary) {
  const Program program("rows-source");
  program.write("summary.toml", std::string(summary_config) + tables);
  for (const std::string& attention : attentions) {
    const std::string reads = "model.encoder_attention=" + attention;
    expect_resumed(program, {"summary.toml", reads, "model.dropout=0.1"});
    const Outcome trained = program.run({"train", "summary.toml", "--run", attention, reads});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const Outcome scored = program.run({"eval", attention, "--generate", "--json"});
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_TRUE(nlohmann::json::parse(scored.out).contains("generated")) << scored.out;
  }
}

TEST(RowsBesideTokens, are_refused_where_there_can_be_none_with_what_to_do) {
  const Program program("rows-refusals");
  program.write("summary.toml", std::string(summary_config) + tables);
  for (const char* const setting :
       {"model.attention=bp", "model.cross_attention=bp", "model.reversible=true"}) {
    const Outcome outcome = program.run({"config", "summary.toml", setting});
    EXPECT_EQ(outcome.code, 2) << setting;
    expect_holds(outcome.err, {"which only a plain encoder has; take another attention"});
  }
}

}  // namespace
}  // namespace weft::experiments::rows_program_test
