// What users meet of sparse layers: their keys, their errors, resuming, and the speed of decoding.
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace weft::experiments::sparse_program_test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* sparse_config = R"(
[data]
length = 24
held_out = 16

[model]
layers = 2
width = 16
heads = 4
dropout = 0.1
positions = "rotary"
feedforward = "sparse"
ff_block = 8
ff_rank = 4
ff_temperature = 0.5
output = "sparse"
output_modules = 2
tie = false
attention = ["sparse", "mix"]

[attention.sparse]
kind = "dense"
projection = "sparse"
modules = 8

[attention.mix]
projection = "sparse"
groups = [{kind = "local", heads = 1, window = 5}, {kind = "dense", heads = 3}]

[train]
steps = 20
batch = 8
)";

TEST(Sparse, verify_resume_finds_every_bit_equal_with_all_parts_on) {
  const Program program("sparse-resume");
  program.write("sparse.toml", sparse_config);
  for (const Words& more : {Words{}, Words{"model.reversible=true", "model.ff_chunk=16"},
                            Words{"train.recompute=true", "model.ff_mask_inside=false"}}) {
    Words words = {"verify-resume", "sparse.toml", "--at", "10", "--steps", "20"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out.find("FAIL"), std::string::npos);
  }
}

TEST(Sparse, trains_evaluates_and_generates) {
  const Program program("sparse-train");
  program.write("sparse.toml", sparse_config);
  const Outcome trained = program.run({"train", "sparse.toml", "--run", "run"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  EXPECT_EQ(program.run({"eval", "run"}).code, 0);
  const Outcome text = program.run({"generate", "run", "--prompt", "ab", "--tokens", "30"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, program.run({"generate", "run", "--prompt", "ab", "--tokens", "30"}).out);
}

TEST(Sparse, bench_decode_prints_both_models_in_one_json_object) {
  const Program program("sparse-bench");
  program.write("sparse.toml", sparse_config);
  const Outcome outcome = program.run({"bench", "decode", "sparse.toml", "--json", "--prompt", "4",
                                       "--tokens", "5", "model.attention=sparse"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& speed : {json, json["dense"]})
    for (const char* key : {"tokens_per_s", "token_s", "weights_read", "read_gb_per_s",
                            "bandwidth_share", "params", "param_bytes", "decode_bytes"})
      EXPECT_GT(speed[key], 0.0) << key;
  EXPECT_GT(json["bandwidth_gb_per_s"], 0.0);
  EXPECT_GT(json["speedup"], 0.0);
  // Per layer qkv, output and feed-forward, then the output table of 34 symbols; all of it once.
  EXPECT_EQ(json["dense"]["weights_read"], 2 * (4 * 16 * 16 + 2 * 16 * 64) + 34 * 16);
  EXPECT_LT(json["weights_read"], json["dense"]["weights_read"]);
  // Only parameters: no gradients, no moments.
  EXPECT_LT(json["dense"]["param_bytes"], 5 * double(json["dense"]["params"]));
}

TEST(Sparse, bench_decode_of_a_dense_model_stands_alone) {
  const Program program("dense-bench");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome =
      program.run({"bench", "decode", "tiny.toml", "--json", "--prompt", "2", "--tokens", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(nlohmann::json::parse(outcome.out).contains("dense"));
  const Outcome shown =
      program.run({"bench", "decode", "tiny.toml", "--prompt", "2", "--tokens", "2"});
  EXPECT_NE(shown.out.find("GB/s to all threads"), std::string::npos) << shown.out;
  EXPECT_EQ(program.run({"bench", "walk", "tiny.toml"}).code, 2);
}

TEST(Sparse, settings_that_do_not_go_together_are_refused_with_what_to_do) {
  const Program program("sparse-refusals");
  program.write("sparse.toml", sparse_config);
  program.write("tiny.toml", tiny_config);
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"sparse.toml", "model.ff_block=7"}, "64 hidden units are not blocks of 7"},
      {{"sparse.toml", "model.tie=true"}, "a sparse output layer has weights of its own"},
      {{"sparse.toml", "attention.sparse.modules=3"}, "not 3 modules"},
      {{"tiny.toml", "model.ff_block=4"}, "model.feedforward = \"sparse\""},
      {{"tiny.toml", "model.output_modules=4"}, "model.output = \"sparse\""},
      {{"tiny.toml", "attention.dense.modules=4"}, "attention.dense.projection = \"sparse\""}};
  for (const auto& [settings, said] : cases) {
    Words words = {"config"};
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = program.run(words);
    EXPECT_EQ(outcome.code, 2) << settings[1];
    EXPECT_NE(outcome.err.find(said), std::string::npos) << settings[1] << ": " << outcome.err;
  }
  const std::string keys = program.run({"config", "--keys"}).out;
  for (const std::string key : {"model.ff_block", "model.ff_rank", "model.ff_hard",
                                "model.output_modules", "attention.NAME.conv_length"})
    EXPECT_NE(keys.find(key), std::string::npos) << key;
}

}  // namespace
}  // namespace weft::experiments::sparse_program_test
