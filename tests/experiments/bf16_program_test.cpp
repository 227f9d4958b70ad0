// train.precision = "bf16" as a user meets it, over every mechanism.
#include <nlohmann/json.hpp>

#include "core/arrays/gemm.h"
#include "experiments/run/run_config.h"
#include "layers/attention/registry.h"
#include "layers/settings/model_settings.h"
#include "tests/experiments/program.h"
#include "tests/layers/given_fields.h"

namespace weft::experiments::bf16_program_test {
namespace {

constexpr const char* small_config = R"(
[data]
kind = "recall"
length = 96
held_out = 8
[model]
layers = 1
width = 16
heads = 2
[attention.random]
block = 16
[attention.bigbird]
block = 8
[train]
steps = 4
batch = 2
)";

TEST(Bf16, every_mechanism_resumes_bit_for_bit_and_causal_ones_leak_nothing) {
  const Program program("bf16");
  program.write("small.toml", std::string(small_config) + "precision = \"bf16\"\n");
  program.write("text.txt", std::string(3000, 'a') + std::string(3000, 'b'));
  program.write("both_ways.toml",
                "[data]\nkind = \"text\"\npath = \"text.txt\"\nlength = 96\nmasking = \"bert\"\n"
                "[model]\ncausal = false\nlayers = 1\nwidth = 16\nheads = 2\n"
                "[train]\nsteps = 4\nbatch = 2\nprecision = \"bf16\"\n");
  const layers::AttentionSite site = layers::ModelSettings{}.site(1024);
  std::vector<std::string> read_both_ways;
  for (const layers::AttentionEntry& entry : layers::attention_registry()) {
    tests::GivenFields defaults;
    const bool causal = entry.configure(defaults, site).traits.causal;
    if (!causal) read_both_ways.emplace_back(entry.kind);
    const auto run = [&](std::vector<std::string> words) {
      words.insert(words.begin() + 1, causal ? "small.toml" : "both_ways.toml");
      words.push_back("model.attention=" + std::string(entry.kind));
      return program.run(words);
    };
    const Outcome resumed = run({"verify-resume", "--steps", "2"});
    EXPECT_EQ(resumed.code, 0) << entry.kind << ": " << resumed.out << resumed.err;
    if (!causal) continue;
    const Outcome outcome = run({"audit", "--trials", "4", "--json"});
    ASSERT_EQ(outcome.code, 0) << entry.kind << ": " << outcome.out << outcome.err;
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["changed"], 0) << entry.kind;
  }
  EXPECT_EQ(read_both_ways, (std::vector<std::string>{"etc", "linformer"}));
}

TEST(Bf16, a_checkpoint_of_either_precision_continues_in_the_other) {
  const Program program("bf16_other");
  program.write("small.toml", small_config);
  const std::string names[] = {"train.precision=float32", "train.precision=bf16"};
  for (const int first : {0, 1}) {
    const std::string run = "runs/from" + std::to_string(first);
    ASSERT_EQ(program.run({"train", "small.toml", "--run", run, names[first]}).code, 0);
    const Outcome other = program.run(
        {"train", "small.toml", "--run", run, "--resume", "train.steps=6", names[1 - first]});
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_NE(other.out.find("train.precision"), std::string::npos) << other.out;
    EXPECT_EQ(program.run({"eval", run}).code, 0);
  }
}

TEST(Bf16, plan_says_what_stays_in_float32) {
  const Program program("bf16_plan");
  program.write("small.toml", small_config);
  const auto plan = [&](const std::string& attention) {
    return program
        .run({"plan", "small.toml", "train.precision=bf16", "model.attention=" + attention})
        .out;
  };
  EXPECT_NE(plan("dense").find("bf16"), std::string::npos) << plan("dense");
  EXPECT_EQ(plan("dense").find("in float32:"), std::string::npos);
  EXPECT_NE(plan("deltanet").find("in float32: attention deltanet"), std::string::npos);
  program.write("sparse.toml", std::string(small_config) +
                                   "[attention.thin]\nkind = \"dense\"\nprojection = \"sparse\"\n");
  const Outcome sparse =
      program.run({"plan", "sparse.toml", "train.precision=bf16", "model.attention=thin"});
  EXPECT_NE(sparse.out.find("in float32: the projections of thin"), std::string::npos)
      << sparse.out << sparse.err;
  program.write("star.toml",
                "[data]\nkind = \"noise\"\nlength = 96\n[model]\ntrunk = \"star\"\n"
                "causal = false\nlayers = 1\nwidth = 16\nheads = 2\n[train]\nsteps = 4\n");
  const Outcome star = program.run({"plan", "star.toml", "train.precision=bf16"});
  EXPECT_NE(star.out.find("in float32: the attention of ring and relay"), std::string::npos)
      << star.out << star.err;
}

TEST(Bf16, leaves_the_names_of_runs_in_float32_alone) {
  const auto identity = [](const std::vector<std::string>& arguments) {
    return RunConfig::from_text(small_config, "small.toml", arguments).identity();
  };
  EXPECT_EQ(identity({}), identity({"train.precision=float32"}));
  EXPECT_NE(identity({}), identity({"train.precision=bf16"}));
}

TEST(Bf16, bench_prints_what_its_products_reach) {
  const Program program("bf16_bench");
  program.write("small.toml", small_config);
  const Outcome outcome = program.run(
      {"bench", "step", "small.toml", "--steps", "1", "--json", "train.precision=bf16"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_GT(double(json["bf16_gflops"]), 0);
  EXPECT_EQ(json["kernels"]["bf16"].get<std::string>(), core::bf16_library());
}

TEST(Bf16, without_its_instructions_says_that_it_is_slower) {
  const Program program("bf16_slow");
  program.write("small.toml", small_config);
  const Outcome outcome = program.run({"train", "small.toml", "train.precision=bf16"},
                                      [] { setenv("WEFT_ISA", "baseline", 1); });
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("computed in float, slower"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace weft::experiments::bf16_program_test
