// What users meet of stars and of layers that run again: their keys, their errors, resuming.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace weft::experiments::trunk_program_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* classes_config = R"(
[data]
kind = "listops"
length = 24
shortest = 8
held_out = 16

[model]
task = "classify"
pool = "max+root"
trunk = "star"
layers = 2
width = 16
heads = 4
dropout = 0.1

[train]
steps = 12
batch = 8
)";

constexpr const char* steps_config = R"(
[data]
length = 24
held_out = 16

[model]
steps = 3
width = 16
heads = 4
dropout = 0.1
halting = "act"

[train]
steps = 12
batch = 8
)";

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Trunks, verify_resume_finds_every_bit_equal) {
  const Program program("trunks-resume");
  program.write("star.toml", classes_config);
  program.write("steps.toml", steps_config);
  const std::vector<Words> cases = {
      {"star.toml"},
      {"star.toml", "model.star_tie=true", "model.star_norm=reference", "model.pool=root"},
      {"star.toml", "train.recompute=true", "model.pool=mean", "model.star_ring=cyclic"},
      {"steps.toml"},
      {"steps.toml", "train.recompute=true", "train.accumulate=2", "model.halt_freeze=false"},
      {"steps.toml", "model.halting=none", "model.reversible=true", "model.layers=2"}};
  for (const Words& own : cases) {
    Words words = {"verify-resume", own[0], "--at", "6", "--steps", "12"};
    words.insert(words.end(), own.begin() + 1, own.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 0) << own.back() << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
  }
}

TEST(Trunks, a_model_of_steps_trains_generates_and_writes_its_ponder_time_into_the_metrics) {
  const Program program("trunks-steps");
  program.write("steps.toml", steps_config);
  const Outcome trained = program.run({"train", "steps.toml", "--run", "steps"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  EXPECT_NE(trained.out.find("dense attention, 1 layers x 3 steps"), std::string::npos)
      << trained.out;
  std::ifstream log(program.directory() / "steps" / "metrics.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(log, line));
  const auto first = nlohmann::json::parse(line);
  ASSERT_TRUE(first.contains("universal.halting.use.steps")) << line;
  EXPECT_GE(double(first["universal.halting.use.steps"]), 1.0);
  EXPECT_LE(double(first["universal.halting.use.steps"]), 3.0);
  EXPECT_TRUE(first.contains("universal.halting.use.remainder"));
  EXPECT_TRUE(first.contains("universal.halting.use.at_limit"));
  EXPECT_EQ(program.run({"generate", "steps", "--prompt", "ab", "--tokens", "10"}).code, 0);
  EXPECT_EQ(program.run({"audit", "steps.toml"}).code, 0);
}

TEST(Trunks, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("trunks-refusals");
  program.write("star.toml", classes_config);
  program.write("steps.toml", steps_config);
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"star.toml", "model.reversible=true"}, "cycles replace what they read"},
      {{"star.toml", "model.causal=true"}, "a star's relay reads every token"},
      {{"star.toml", "model.positions=rotary"}, "a star has no rotary positions"},
      {{"star.toml", "model.attention=local"},
       "model.attention is used only with model.trunk = \"transformer\""},
      {{"star.toml", "model.feedforward=dense"}, "model.trunk = \"transformer\""},
      {{"star.toml", "model.ff=8"}, "model.trunk = \"transformer\""},
      {{"star.toml", "model.norm_place=post"}, "model.trunk = \"transformer\""},
      {{"star.toml", "model.steps=2"}, "model.trunk = \"transformer\""},
      {{"star.toml", "model.trunk=transformer"}, "no row of \"dense\" stands for the whole"},
      {{"steps.toml", "model.star_ring=open"}, "model.trunk = \"star\""},
      {{"steps.toml", "model.reversible=true"}, "halting = \"none\""},
      {{"steps.toml", "model.steps=0"}, "model.steps above 0"},
      {{"steps.toml", "model.segment_memory=true", "model.positions=none"},
       "does not reach layers that run again"}};
  for (const auto& [own, text] : cases) {
    const Outcome outcome = program.run(with({"config"}, own));
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << own.back() << "\n" << outcome.err;
  }
}

}  // namespace
}  // namespace weft::experiments::trunk_program_test
