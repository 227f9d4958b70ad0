// What users meet of experts and memories: their keys, their errors, resuming, their metrics.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace weft::experiments::conditional_program_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* conditional_config = R"(
[data]
length = 24
held_out = 16

[model]
layers = 2
width = 16
heads = 4
dropout = 0.1
feedforward = "experts"

[train]
steps = 20
batch = 8
)";

const std::vector<Words> every_form = {
    {"model.ff_experts=4"},
    {"model.ff_experts=4", "model.ff_choices=2", "model.ff_second=random", "model.ff_capacity=1",
     "model.ff_jitter=0.1", "train.accumulate=2"},
    {"model.ff_experts=4", "model.reversible=true"},
    {"model.feedforward=memory", "model.memory_keys=8", "model.memory_top=4",
     "model.memory_query=8"},
    {"model.feedforward=memory", "model.memory_keys=8", "model.memory_top=4",
     "model.memory_query=8", "model.memory_norm=batch", "model.allow_leaky_norm=true",
     "model.reversible=true", "train.accumulate=2"}};

TEST(Conditional, verify_resume_finds_every_bit_equal) {
  const Program program("conditional-resume");
  program.write("conditional.toml", conditional_config);
  for (const Words& more : every_form) {
    Words words = {"verify-resume", "conditional.toml", "--at", "10", "--steps", "20"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
  }
}

TEST(Conditional, trains_generates_and_writes_the_use_of_experts_into_the_metrics) {
  const Program program("conditional-train");
  program.write("conditional.toml", conditional_config);
  for (const auto& [form, metric] :
       {std::pair(Words{}, "layers.1.feed_forward.use.entropy"),
        std::pair(Words{"model.feedforward=memory", "model.memory_keys=8", "model.memory_top=4"},
                  "layers.1.feed_forward.use.slots_hit")}) {
    Words words = {"train", "conditional.toml", "--run", metric};
    words.insert(words.end(), form.begin(), form.end());
    const Outcome trained = program.run(words);
    ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
    std::ifstream log(program.directory() / metric / "metrics.jsonl");
    std::string line;
    ASSERT_TRUE(std::getline(log, line));
    const auto first = nlohmann::json::parse(line);
    ASSERT_TRUE(first.contains(metric)) << line;
    EXPECT_GT(double(first[metric]), 0.0);
    EXPECT_EQ(program.run({"generate", metric, "--prompt", "ab", "--tokens", "10"}).code, 0);
  }
}

TEST(Conditional, feed_forwards_repeat_over_the_layers_like_attention) {
  const Program program("conditional-list");
  program.write("conditional.toml", conditional_config);
  const Outcome trained =
      program.run({"train", "conditional.toml", "--run", "mixed", "model.layers=3",
                   "model.feedforward=[\"dense\",\"experts\",\"memory\"]", "model.memory_keys=8",
                   "model.memory_top=4", "model.memory_query=8"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  EXPECT_EQ(program.run({"generate", "mixed", "--prompt", "ab", "--tokens", "10"}).code, 0);
}

TEST(Conditional, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("conditional-refusals");
  program.write("conditional.toml", conditional_config);
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"model.ff_choices=9"}, "cannot choose 9 of 8 experts"},
      {{"model.ff_chunk=4"}, "experts share all rows of a call"},
      {{"model.ff_second=random"}, "model.ff_choices of 2 or more"},
      {{"model.memory_keys=9"}, "model.feedforward = \"memory\""},
      {{"model.feedforward=dense", "model.ff_experts=9"}, "model.feedforward = \"experts\""},
      {{"model.feedforward=memory", "model.memory_query=9"}, "an even number"},
      {{"model.feedforward=memory", "model.memory_norm=batch"}, "model.allow_leaky_norm = true"}};
  for (const auto& [more, text] : cases) {
    Words words = {"config", "conditional.toml"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = program.run(words);
    EXPECT_NE(outcome.code, 0) << text;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace weft::experiments::conditional_program_test
