#include <nlohmann/json.hpp>

#include "experiments/config/variations.h"
#include "experiments/console/number_text.h"
#include "experiments/forecast/ranks_forecast.h"
#include "experiments/train/trainer.h"
#include "tests/experiments/program.h"
#include "tests/experiments/sweep/sweep_scratch.h"

namespace weft::experiments::plan_program_test {
namespace {

RunConfig small_config(const std::vector<std::string>& arguments) {
  return RunConfig::from_text(sweep_base, "base.toml", arguments);
}

TEST(Variations, combine_and_know_kilo) {
  EXPECT_EQ(variants_of({}), (std::vector<Variant>{{}}));
  EXPECT_EQ(variants_of({"a.b=x,y", "data.length=1k,300"}),
            (std::vector<Variant>{{"a.b=x", "data.length=1024"},
                                  {"a.b=x", "data.length=300"},
                                  {"a.b=y", "data.length=1024"},
                                  {"a.b=y", "data.length=300"}}));
  EXPECT_EQ(name_of(Variant{"a.b=x", "data.length=300"}), "b=x length=300");
  EXPECT_EQ(without_kilo("blank"), "blank");
  EXPECT_EQ(without_kilo("k"), "k");
}

TEST(RunForecast, memory_predicted_from_small_batches_is_within_a_tenth_of_what_a_batch_takes) {
  for (const char* const attention : {"dense", "local", "linear", "lsh"}) {
    const RunConfig config =
        small_config({std::string("model.attention=") + attention, "train.batch=40",
                      "data.length=64", "model.width=32", "threads=1"});
    const Index plenty = Index(1) << 40;
    const RunForecast predicted = forecast_run(config, plenty, false);
    const RunForecast measured = forecast_run(config, plenty, true);
    EXPECT_FALSE(predicted.measured);
    EXPECT_TRUE(measured.measured);
    EXPECT_NEAR(double(predicted.peak_bytes), double(measured.peak_bytes),
                0.1 * double(measured.peak_bytes))
        << attention;
  }
}

TEST(RunForecast, what_does_not_fit_says_how_much_would) {
  const RunConfig config = small_config({"train.batch=64", "data.length=64", "threads=1"});
  const RunForecast all = forecast_run(config, Index(1) << 40);
  EXPECT_TRUE(all.fits);
  EXPECT_GT(all.keys_per_token, 32);  // causal dense: (64 + 1) / 2, tiles included
  EXPECT_LT(all.keys_per_token, 65);
  const RunForecast half = forecast_run(config, all.peak_bytes / 2);
  EXPECT_FALSE(half.fits);
  EXPECT_GE(half.largest_batch, 24);
  EXPECT_LE(half.largest_batch, 36);
  EXPECT_EQ(forecast_run(config, all.fixed_bytes / 2).largest_batch, 0);
}

TEST(PlanProgram, plans_every_combination_and_says_what_fits) {
  const Program program("plan");
  program.write("base.toml", sweep_base);
  const std::vector<std::string> words = {
      "plan", "base.toml", "--vary", "model.attention=dense,local", "--vary", "data.length=16,32"};
  const Outcome outcome = program.run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* const part :
       {"attention=dense length=16", "attention=local length=32", "keys/token", "yes"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << '\n' << outcome.out;
  const Outcome tight = program.run(words, [] { setenv("WEFT_MEMORY_MB", "0.01", 1); });
  EXPECT_EQ(tight.code, 1) << tight.out;
  EXPECT_NE(tight.out.find("NO, "), std::string::npos) << tight.out;
}

TEST(PlanProgram, says_what_several_machines_would_send) {
  const Program program("ranks");
  program.write("base.toml", sweep_base);
  std::vector<std::string> words = {"plan",    "base.toml", "train.batch=4", "train.shards=4",
                                    "--ranks", "2,4",       "--network",     "1Gbit"};
  const Outcome outcome = program.run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* const part : {"2 ranks", "4 ranks", "MB sent", "at 1Gbit", "100 %"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << '\n' << outcome.out;
  words.back() = "1 apple";
  const Outcome wrong = program.run(words);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("no rate of a network"), std::string::npos) << wrong.err;
  const Outcome many = program.run({"plan", "base.toml", "--ranks", "2"});
  EXPECT_EQ(many.code, 2);
  EXPECT_NE(many.err.find("train.shards=2"), std::string::npos) << many.err;
}

TEST(RanksForecast, reads_rates_of_networks) {
  EXPECT_EQ(network_rate("1Gbit"), 1e9);
  EXPECT_EQ(network_rate("2.5gbit"), 2.5e9);
  EXPECT_EQ(network_rate("100Mbit"), 1e8);
  for (const char* const wrong :
       {"", "1", "Gbit", "0Gbit", "-1Gbit", "1GB", "nanGbit", "1e999Gbit"})
    EXPECT_THROW(network_rate(wrong), core::Error) << wrong;
}

TEST(PlanProgram, train_refuses_what_cannot_fit_unless_told) {
  const Program program("refuse");
  program.write("base.toml", sweep_base);
  const auto tight = [] { setenv("WEFT_MEMORY_MB", "0.01", 1); };
  const Outcome refused = program.run({"train", "base.toml", "--run", "run"}, tight);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("are free"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(program.directory() / "run"));
  EXPECT_EQ(program.run({"train", "base.toml", "--run", "run", "--force"}, tight).code, 0);
}

TEST(PlanProgram, bench_scale_measures_each_length_and_fits_exponents) {
  const Program program("scale");
  program.write("base.toml", sweep_base);
  const std::vector<std::string> words = {
      "bench",     "scale",          "base.toml",
      "--lengths", "64,256",         "--steps",
      "1",         "--vary",         "model.attention=dense,linear",
      "threads=1", "model.width=32", "train.batch=16"};
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const Outcome outcome = program.run(as_json);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[1]["name"], "attention=linear");
  ASSERT_EQ(json[0]["steps"].size(), 2u);
  EXPECT_EQ(json[0]["steps"][1]["length"], 256);
  EXPECT_GT(json[0]["memory_exponent"].get<double>(), 0.5);
  EXPECT_LT(json[0]["memory_exponent"].get<double>(), 1.5);
  const Outcome wrong = program.run({"bench", "scale", "base.toml", "--lengths", "1m"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("1m is no length"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace weft::experiments::plan_program_test
