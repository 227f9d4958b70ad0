#include "tests/experiments/program.h"

#include <nlohmann/json.hpp>

#include "core/arrays/onednn.h"
#include "core/simd/kernels.h"
#include "experiments/run/metrics_log.h"

namespace weft::experiments::program_test {
namespace {

TEST(Program, trains_evaluates_and_generates) {
  const Program program("whole");
  program.write("tiny.toml", tiny_config);
  const Outcome trained = program.run({"train", "tiny.toml", "--run", "run", "sample.tokens=5"});
  ASSERT_EQ(trained.code, 0) << trained.out << trained.err;
  EXPECT_NE(trained.out.find("floor:"), std::string::npos);
  EXPECT_NE(trained.out.find("recalled from"), std::string::npos);
  EXPECT_NE(trained.out.find("sample"), std::string::npos);
  EXPECT_EQ(trained.out.find('\r'), std::string::npos) << "a file must get plain lines";

  const Outcome scored = program.run({"eval", "run", "--json", "--split", "test"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  const auto json = nlohmann::json::parse(scored.out);
  EXPECT_EQ(json["tokens"], 16 * 24);
  EXPECT_GT(json["bits"], json["floor_bits"]);
  EXPECT_GT(json["chance"], 0.0);

  const std::vector<std::string> words = {"generate", "run", "--prompt", "ab", "--tokens", "8"};
  const Outcome first = program.run(words), second = program.run(words);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.out.size(), 2 + 8 + 1u);
}

TEST(Program, scores_each_token_of_a_text_once_at_any_stride) {
  const Program program("text");
  std::string text;
  for (int i = 0; i < 2000; ++i) text += char('a' + (i * i / 7) % 26);
  program.write("text.txt", text);
  program.write("tiny.toml", tiny_config);
  const Outcome trained =
      program.run({"train", "tiny.toml", "--run", "run", "data.kind=text", "data.path=text.txt",
                   "train.steps=3", "train.eval_every=0"});
  // The held-out sequences of the recall language are no setting of a text.
  EXPECT_EQ(trained.code, 2) << trained.out;
  EXPECT_NE(trained.err.find("data.held_out"), std::string::npos) << trained.err;
  program.write("text.toml",
                "[data]\nkind = \"text\"\npath = \"text.txt\"\nlength = 16\n[model]\nwidth = 16\n"
                "[train]\nsteps = 3\nbatch = 2\n");
  ASSERT_EQ(program.run({"train", "text.toml", "--run", "run"}).code, 0);
  for (const std::string stride : {"16", "5", "1"}) {
    const Outcome scored = program.run({"eval", "run", "--json", "--stride", stride});
    ASSERT_EQ(scored.code, 0) << scored.err;
    EXPECT_EQ(nlohmann::json::parse(scored.out)["tokens"], 199) << stride;
  }
}

TEST(Program, reports_every_mistake_in_a_config_at_once_and_starts_nothing) {
  const Program program("mistakes");
  program.write("bad.toml",
                "[model]\nlayrs = 3\nwidth = 30\nattention = \"dens\"\n[optim]\nlr = -1\n"
                "[trian]\nsteps = 5\n");
  const Outcome outcome = program.run({"train", "bad.toml", "--run", "run", "data.lenght=9"});
  EXPECT_EQ(outcome.code, 2);
  for (const char* part :
       {"bad.toml:2: unknown key model.layrs; did you mean model.layers?", "bad.toml:3",
        "did you mean dense?", "bad.toml:6", "optim.lr", "trian", "did you mean train",
        "command line: unknown key data.lenght; did you mean data.length?"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " in\n" << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "run"));
}

TEST(Program, a_loss_that_is_not_finite_exits_3_and_names_the_op_and_layer) {
  const Program program("diverged");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome = program.run({"train", "tiny.toml", "--run", "run", "optim.lr=1000",
                                       "optim.kind=sgd", "optim.clip=0", "train.eval_every=0"});
  EXPECT_EQ(outcome.code, 3) << outcome.out;
  EXPECT_NE(outcome.err.find("first made by op '"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("' in "), std::string::npos) << outcome.err;
}

TEST(Program, missing_empty_and_short_files_exit_4_and_say_what_to_do) {
  const Program program("files");
  program.write("text.toml", "[data]\nkind = \"text\"\npath = \"text.txt\"\nlength = 16\n");
  const std::vector<std::string> train = {"train", "text.toml", "--run", "run"};
  const Outcome missing = program.run(train);
  EXPECT_EQ(missing.code, 4);
  EXPECT_NE(missing.err.find("text.txt"), std::string::npos) << missing.err;
  program.write("text.txt", "");
  EXPECT_EQ(program.run(train).code, 4);
  program.write("text.txt", "too short");
  const Outcome brief = program.run(train);
  EXPECT_EQ(brief.code, 4);
  EXPECT_NE(brief.err.find("data.length"), std::string::npos) << brief.err;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "run"));
}

TEST(Program, refuses_to_train_over_a_run_unless_told) {
  const Program program("again");
  program.write("tiny.toml", tiny_config);
  const std::vector<std::string> train = {"train", "tiny.toml", "--run", "run", "train.steps=10"};
  ASSERT_EQ(program.run(train).code, 0);
  const Outcome again = program.run(train);
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("--resume"), std::string::npos) << again.err;
  EXPECT_NE(again.err.find("--fresh"), std::string::npos) << again.err;
  std::vector<std::string> fresh = train;
  fresh.push_back("--fresh");
  EXPECT_EQ(program.run(fresh).code, 0);
  const Outcome changed =
      program.run({"train", "tiny.toml", "--run", "run", "--resume", "model.layers=3"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_NE(changed.err.find("model.layers: 2 -> 3"), std::string::npos) << changed.err;
  const Outcome longer =
      program.run({"train", "tiny.toml", "--run", "run", "--resume", "train.steps=15"});
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_NE(longer.out.find("train.steps: 10 -> 15"), std::string::npos) << longer.out;
}

TEST(Program, starts_from_the_model_of_another_run) {
  const Program program("init");
  program.write("tiny.toml", tiny_config);
  ASSERT_EQ(program.run({"train", "tiny.toml", "--run", "first"}).code, 0);
  const Outcome second = program.run(
      {"train", "tiny.toml", "--run", "second", "--init-from", "first", "train.steps=1", "seed=2"});
  ASSERT_EQ(second.code, 0) << second.err;
  const auto start = read_metrics(program.directory() / "second/metrics.jsonl");
  const auto untrained = read_metrics(program.directory() / "first/metrics.jsonl");
  EXPECT_LT(start.front().number("loss"), untrained.front().number("loss"));
}

TEST(Program, bench_step_prints_one_json_object_with_every_figure) {
  const Program program("bench");
  program.write("tiny.toml", tiny_config);
  const Outcome outcome = program.run({"bench", "step", "tiny.toml", "--json", "--steps", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  for (const char* key : {"tokens_per_s", "step_s", "sgemm_gflops", "useful_gflops", "utilisation",
                          "peak_bytes", "fixed_bytes", "rss_mb", "params", "scored_pairs"})
    EXPECT_GT(json[key], 0.0) << key;
  // 2 layers x 4 heads x 8 sequences x 24 * 25 / 2 pairs.
  EXPECT_EQ(json["scored_pairs"], 2 * 4 * 8 * 300);
}

TEST(Program, bench_step_names_its_kernels_and_compares_with_the_fastest_library) {
  const Program program("bench_kernels");
  program.write("tiny.toml", tiny_config);
  const auto openblas = [] { setenv("WEFT_PRODUCTS", "openblas", 1); };
  const Outcome outcome = program.run({"bench", "step", "tiny.toml", "--json"}, openblas);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["kernels"]["isa"].get<std::string>(), core::simd().isa);
  EXPECT_EQ(json["kernels"]["products"].get<std::string>(), "OpenBLAS");
  double fastest = 0;
  for (const auto& [library, speed] : json["library_gflops"].items())
    fastest = std::max(fastest, speed.get<double>());
  EXPECT_EQ(json["sgemm_gflops"].get<double>(), fastest);
  EXPECT_TRUE(json["library_gflops"].contains("OpenBLAS"));
  EXPECT_EQ(json["library_gflops"].contains("oneDNN"), core::onednn_multiplies_float())
      << "also where the step does not use it";
  EXPECT_EQ(json["utilisation"].get<double>(), json["useful_gflops"].get<double>() / fastest);
  const Outcome text = program.run({"bench", "step", "tiny.toml"}, openblas);
  expect_holds(text.out,
               {"OpenBLAS ", " Gflop/s; the step ran on " + std::string(core::simd().isa) +
                                 ", BLAS " + json["kernels"]["blas"].get<std::string>()});
}

TEST(Program, generate_count_prints_what_each_seed_gives_alone) {
  const Program program("count");
  program.write("tiny.toml", tiny_config);
  ASSERT_EQ(program.run({"train", "tiny.toml", "--run", "run", "train.steps=2"}).code, 0);
  const auto generate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"generate", "run", "--prompt", "d6d", "--tokens", "9"};
    words.insert(words.end(), more.begin(), more.end());
    return program.run(words);
  };
  std::string expected;
  for (const std::string seed : {"7", "8", "9"})
    expected += "--- seed " + seed + " ---\n" + generate({"--seed", seed}).out;
  EXPECT_EQ(generate({"--seed", "7", "--count", "3"}).out, expected);
  EXPECT_EQ(generate({"--seed", "7", "--count", "1"}).out, generate({"--seed", "7"}).out);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--count", "0"}, {"--count", "2", "--beams", "2"}}) {
    const Outcome refused = generate(wrong);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("--count"), std::string::npos) << refused.err;
  }
}

TEST(Program, every_verb_has_help_and_unknown_ones_are_refused) {
  const Program program("help");
  for (const std::string verb :
       {"train", "eval", "generate", "config", "list", "bench", "verify-resume", "audit"}) {
    const Outcome outcome = program.run({verb, "--help"});
    EXPECT_EQ(outcome.code, 0) << verb;
    EXPECT_NE(outcome.out.find("weft " + verb), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(program.run({"trian"}).code, 2);
  EXPECT_EQ(program.run({}).code, 2);
  EXPECT_EQ(program.run({"train", "--nonsense"}).code, 2);
  const Outcome listed = program.run({"list", "attentions"});
  EXPECT_NE(listed.out.find("dense "), std::string::npos);
  const Outcome keys = program.run({"config", "--keys"});
  EXPECT_NE(keys.out.find("model.width"), std::string::npos);
}

TEST(Program, config_shows_who_set_each_value) {
  const Program program("origin");
  program.write("base.toml", "[model]\nwidth = 32\nlayers = 3\n");
  program.write("run.toml", "include = [\"base.toml\"]\n[model]\nlayers = 4\n");
  const Outcome outcome = program.run({"config", "run.toml", "model.heads=2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("base.toml:2"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("run.toml:3"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("command line"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace weft::experiments::program_test
