// What users meet of question answering: training, scores, predictions, resuming, and what is
// refused.
#include <nlohmann/json.hpp>

#include "experiments/run/metrics_log.h"
#include "tests/experiments/program.h"
#include "tests/experiments/squad_sample.h"

namespace weft::experiments::questions_program_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* facts_config = R"(
[data]
kind = "facts"
length = 32
keys = 8
symbols = 5
facts = 2
value = 2
held_out = 32

[model]
task = "span"
layers = 1
width = 16
heads = 2
answer_longest = 4

[train]
steps = 12
batch = 4
eval_every = 6
)";

constexpr const char* qa_config = R"(
[data]
kind = "qa"
train_path = "squad.json"
validation_path = "other.json"
length = 40
stride = 8

[model]
task = "span"
layers = 1
width = 16
heads = 2

[optim]
lr = 1e-2

[train]
steps = 200
batch = 4
)";

TEST(Questions, facts_are_answered_and_scored_by_exact_match_and_place) {
  const Program program("facts");
  program.write("config.toml", facts_config);
  const Outcome trained = program.run({"train", "config.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  expect_holds(trained.out, {"always no answer", "any value of the document", "bits per question",
                             "exact match", "F1", "answer at"});
  const Outcome shown =
      program.run({"eval", "run", "--json", "--split", "test", "--predictions", "answers.json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto json = nlohmann::json::parse(shown.out);
  EXPECT_EQ(json["tokens"], 32);
  EXPECT_EQ(json["exact_match"], json["accuracy"]);
  EXPECT_GE(double(json["f1"]), double(json["exact_match"]));
  EXPECT_EQ(json["floor_bits"], 0);
  EXPECT_FALSE(json["by_distance"].empty());
  const auto answers = nlohmann::json::parse(read_text(program.directory() / "answers.json"));
  EXPECT_EQ(answers.size(), 32u);
  EXPECT_TRUE(answers.contains("test-31"));
  bool measured = false;
  for (const MetricRecord& record : read_metrics(program.directory() / "run" / "metrics.jsonl"))
    measured = measured || (record.has("validation_f1") && record.has("validation_accuracy") &&
                            record.has("recall_accuracy"));
  EXPECT_TRUE(measured);
  EXPECT_EQ(program.run({"generate", "run", "--prompt", "?0:"}).code, 2);
  EXPECT_NE(program.run({"bench", "step", "config.toml"}).out, "");
}

TEST(Questions, squad_files_are_read_learnt_and_predicted_by_id) {
  const Program program("qa");
  program.write("config.toml", qa_config);
  program.write("squad.json", squad_sample("t-"));
  program.write("other.json", squad_sample("v-"));
  const Outcome trained = program.run({"train", "config.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  const Outcome shown = program.run({"eval", "run", "--json", "--predictions", "answers.json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_GT(double(nlohmann::json::parse(shown.out)["exact_match"]), 0.9);
  const auto answers = nlohmann::json::parse(read_text(program.directory() / "answers.json"));
  EXPECT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers.value("v-north-gate", "?"), "red");
  EXPECT_EQ(answers.value("v-north-moat", "?"), "");
}

TEST(Questions, resumed_runs_continue_bit_for_bit) {
  const Program program("questions");
  program.write("squad.json", squad_sample("t-"));
  program.write("other.json", squad_sample("v-"));
  for (const char* config : {facts_config, qa_config}) {
    program.write("config.toml", config);
    const Outcome outcome =
        program.run({"verify-resume", "config.toml", "--at", "4", "--steps", "8"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
}

TEST(Questions, bad_files_exit_4_and_name_the_record) {
  const Program program("bad-qa");
  program.write("config.toml", qa_config);
  program.write("other.json", squad_sample("v-"));
  const std::string whole = squad_sample("t-");
  std::string elsewhere = whole;
  elsewhere.replace(elsewhere.find("18"), 2, "99");
  std::string without = whole;
  const std::size_t answers = without.find("\"answers\"");
  without.replace(answers, without.find(']', answers) - answers + 1, "\"answers\":[]");
  const std::vector<std::pair<std::string, Words>> cases = {
      {elsewhere, {"t-north-gate", "outside its context"}},
      {without, {"t-north-gate", "has no answers"}},
      {whole.substr(0, whole.size() / 2), {"squad.json", "no valid JSON"}}};
  for (const auto& [json, said] : cases) {
    program.write("squad.json", json);
    const Outcome outcome = program.run({"train", "config.toml", "--run", "run"});
    EXPECT_EQ(outcome.code, 4) << outcome.err;
    expect_holds(outcome.err, said);
    EXPECT_FALSE(std::filesystem::exists(program.directory() / "run"));
  }
}

TEST(Questions, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("question-refusals");
  program.write("facts.toml", facts_config);
  program.write("tiny.toml", tiny_config);
  const std::vector<std::pair<Words, Words>> cases = {
      {{"tiny.toml", "model.task=span"}, {"model.task", "data.kind = \"facts\""}},
      {{"facts.toml", "model.task=language"}, {"data.kind", "model.task = \"span\""}},
      {{"facts.toml", "data.facts=8"}, {"data.unanswerable"}},
      {{"facts.toml", "data.length=12"}, {"data.length", "at least"}},
      {{"facts.toml", "sample.tokens=4"}, {"sample.tokens"}},
      {{"facts.toml", "model.tie=false"}, {"model.tie is used only with"}},
      {{"tiny.toml", "model.answer_longest=4"}, {"model.answer_longest", "model.task = \"span\""}}};
  for (const auto& [settings, said] : cases) {
    Words words = {"config"};
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 2) << settings[1] << '\n' << outcome.out;
    expect_holds(outcome.err, said);
  }
}

}  // namespace
}  // namespace weft::experiments::questions_program_test
