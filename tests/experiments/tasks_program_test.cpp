// What users meet of classification and of hidden tokens.
#include <nlohmann/json.hpp>

#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"

namespace weft::experiments::tasks_program_test {
namespace {

using Words = std::vector<std::string>;

const char* const listops_config = R"(
[data]
kind = "listops"
length = 16
shortest = 4
held_out = 32

[model]
task = "classify"
layers = 1
width = 16
heads = 2

[train]
steps = 12
batch = 4
eval_every = 6
)";

const char* const labelled_config = R"(
[data]
kind = "labelled"
path = "texts.tsv"
length = 12

[model]
task = "classify"
pool = "mean"
layers = 1
width = 16
heads = 2

[optim]
lr = 1e-2

[train]
steps = 80
batch = 8
)";

const char* const masked_config = R"(
[data]
kind = "text"
path = "text.txt"
length = 20
masking = "bert"

[model]
causal = false
layers = 1
width = 16
heads = 2

[train]
steps = 12
batch = 4
)";

/// Texts whose class is the letter they are made of.
std::string labelled_texts() {
  std::string lines;
  for (int i = 0; i < 60; ++i)
    lines += (i % 3 == 0 ? "bees\t" : "ants\t") +
             std::string(std::size_t(3 + i % 7), i % 3 == 0 ? 'b' : 'a') + std::to_string(i) + "\n";
  return lines;
}

std::string some_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "hidden and found again. ";
  return text;
}

std::string trained(const Program& program, const Words& settings) {
  Words words = {"train", "config.toml", "--run", "run"};
  words.insert(words.end(), settings.begin(), settings.end());
  const Outcome outcome = program.run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  return outcome.out;
}

nlohmann::json evaluated(const Program& program, const Words& more = {}) {
  Words words = {"eval", "run", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = program.run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(Tasks, listops_shows_its_baselines_beside_every_accuracy) {
  const Program program("listops");
  program.write("config.toml", listops_config);
  const Words names = {"chance", "majority", "root operator", "literal arguments", "2 levels"};
  expect_holds(trained(program, {}), names);
  const Outcome shown = program.run({"eval", "run", "--split", "test"});
  expect_holds(shown.out, names);
  expect_holds(shown.out, {"32 sequences, each scored once", "this model"});
  const auto json = evaluated(program);
  EXPECT_EQ(json["tokens"], 32);
  EXPECT_EQ(json["chance"], 0.1);
  EXPECT_EQ(json["classes"].size(), 10u);
  EXPECT_GT(json["baselines"]["majority"], 0.1);
  EXPECT_FALSE(json.contains("by_position"));
  bool measured = false;
  for (const MetricRecord& record : read_metrics(program.directory() / "run" / "metrics.jsonl"))
    if (record.has("validation_accuracy")) {
      measured = true;
      EXPECT_EQ(record.number("baseline_majority"), double(json["baselines"]["majority"]));
      EXPECT_TRUE(record.has("baseline_root_operator"));
    }
  EXPECT_TRUE(measured);
}

TEST(Tasks, labelled_texts_are_learnt_and_their_classes_named) {
  const Program program("labelled");
  program.write("config.toml", labelled_config);
  program.write("texts.tsv", labelled_texts());
  expect_holds(trained(program, {}), {"2 classes: ants, bees", "majority"});
  const auto json = evaluated(program, {"--split", "training"});
  EXPECT_EQ(json["classes"], (Words{"ants", "bees"}));
  EXPECT_GT(double(json["accuracy"]), 0.95);
}

TEST(Tasks, hidden_tokens_are_filled_in_and_scored_alone) {
  const Program program("masked");
  program.write("config.toml", masked_config);
  program.write("text.txt", some_text());
  for (const std::string kind : {"bert", "spans"}) {
    const std::string log = trained(program, {"data.masking=" + kind, "--fresh"});
    expect_holds(log, {"bits per masked byte", "most frequent byte", "this model"});
    const auto json = evaluated(program);
    EXPECT_GE(json["tokens"], 7 * 3) << kind;  // of seven whole windows and a part of one
    EXPECT_LE(json["tokens"], 8 * 3) << kind;
    EXPECT_EQ(json["unit"], "masked byte");
  }
  const Outcome generated = program.run({"generate", "run", "--prompt", "hid"});
  EXPECT_EQ(generated.code, 2);
  expect_holds(generated.err, {"model.causal = false"});
}

TEST(Tasks, resumed_runs_continue_bit_for_bit) {
  const Program program("tasks");
  program.write("texts.tsv", labelled_texts());
  program.write("text.txt", some_text());
  for (const char* config : {listops_config, labelled_config, masked_config}) {
    program.write("config.toml", config);
    const Outcome outcome =
        program.run({"verify-resume", "config.toml", "--at", "4", "--steps", "8"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
}

TEST(Tasks, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("task-refusals");
  program.write("listops.toml", listops_config);
  program.write("masked.toml", masked_config);
  program.write("tiny.toml", tiny_config);
  const std::vector<std::pair<Words, Words>> cases = {
      {{"tiny.toml", "model.task=classify"}, {"model.task", "data.kind = \"listops\""}},
      {{"listops.toml", "model.task=language"}, {"data.kind", "model.task = \"classify\""}},
      {{"listops.toml", "model.tie=false"},
       {"model.tie is used only with model.task = \"language\" or \"seq2seq\""}},
      {{"listops.toml", "data.shortest=17"}, {"data.shortest", "at most data.length, 16"}},
      {{"listops.toml", "sample.tokens=5"}, {"sample.tokens"}},
      {{"masked.toml", "model.causal=true"}, {"model.causal", "model.causal = false"}},
      {{"masked.toml", "data.sampling=streams"}, {"data.sampling", "crops"}},
      {{"masked.toml", "data.mask_span=4"}, {"data.mask_span"}},
      {{"tiny.toml", "model.pool=mean"}, {"model.pool", "model.task = \"classify\""}}};
  for (const auto& [settings, said] : cases) {
    Words words = {"config"};
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 2) << settings[1] << '\n' << outcome.out;
    expect_holds(outcome.err, said);
  }
}

const char* const needle_config = R"(
[data]
kind = "needle"
length = 40
held_out = 20

[model]
layers = 1
width = 16
heads = 2
positions = "rotary"

[train]
steps = 4
batch = 4
)";

TEST(Tasks, answers_are_counted_by_depth_and_at_several_lengths) {
  const Program program("needle");
  program.write("config.toml", needle_config);
  expect_holds(trained(program, {}), {"payload: "});
  expect_holds(program.run({"eval", "run"}).out,
               {"at depth, %", "recalled from", "chance of a guess"});
  core::Index sequences = 0;
  const auto whole = evaluated(program);
  for (const auto& tenth : whole["by_depth"]) sequences += core::Index(tenth["tokens"]);
  EXPECT_EQ(sequences, 20);
  const Outcome shown = program.run({"eval", "run", "--lengths", "40,80"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  expect_holds(shown.out, {"whole answers by depth and length", "0-10 %", "90-100 %", "80"});
  const auto lengths = evaluated(program, {"--lengths", "40,80"});
  ASSERT_EQ(lengths.size(), 2u);
  EXPECT_EQ(lengths[1]["length"], 80);
  EXPECT_EQ(lengths[1]["tokens"], 20 * 3);
  EXPECT_EQ(program.run({"eval", "run", "--lengths", "40", "--stride", "8"}).code, 2);
}

}  // namespace
}  // namespace weft::experiments::tasks_program_test
