// train.memory: which layers are computed again, and what a step then takes.
#include "experiments/forecast/memory_budget.h"

#include "core/error.h"
#include "experiments/forecast/run_forecast.h"
#include "experiments/train/resume_check.h"

namespace weft::experiments::memory_budget_test {
namespace {

const std::string model_of_six_layers =
    "threads = 2\n[data]\nlength = 256\n[model]\nlayers = 6\nwidth = 32\nheads = 2\n"
    "[attention.routing]\nclusters = 4\n[attention.lsh]\nbuckets = 8\nchunk = 32\n"
    "[train]\nbatch = 8\nsteps = 4\n[optim]\nwarmup = 1\n";

RunConfig config_of(const std::string& attention, const std::string& memory = "") {
  std::vector<std::string> settings = {"model.attention=" + attention};
  if (!memory.empty()) settings.push_back("train.memory=" + memory);
  return RunConfig::from_text(model_of_six_layers, "six.toml", settings);
}

Index bytes_with(RunConfig config, Index recomputed) {
  config.train.recomputed = recomputed;
  return step_bytes(config);
}

class MemoryBudget : public testing::TestWithParam<const char*> {};

TEST_P(MemoryBudget, recomputes_no_more_layers_than_it_must) {
  RunConfig config = config_of(GetParam());
  const double all = double(bytes_with(config, 0)), least = double(bytes_with(config, 6));
  ASSERT_LT(least, 0.8 * all);
  Index before = 6;
  for (const double share : {0.25, 0.5, 0.75}) {
    const double budget = least + share * (all - least);
    config.train.memory = std::to_string(Index(budget));
    fit_memory(config);
    const Index count = config.train.recomputed;
    EXPECT_GT(count, 0) << share;
    EXPECT_LE(count, before) << share;
    before = count;
    EXPECT_LE(double(step_bytes(config)), 1.05 * budget) << share << ", " << count << " layers";
    EXPECT_GE(double(bytes_with(config, count - 1)), 0.95 * budget) << share;
  }
}

TEST_P(MemoryBudget, changes_no_bit_of_training) {
  RunConfig config = config_of(GetParam());
  const Trace kept = train_straight(config, 3);
  for (const Index count : {1, 4, 6}) {
    config.train.recomputed = count;
    EXPECT_EQ(differences(kept, train_straight(config, 3)), std::vector<std::string>()) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(OverMechanisms, MemoryBudget, testing::Values("dense", "lsh", "routing"));

TEST(MemoryBudgetOfARun, is_left_alone_where_it_is_large) {
  RunConfig config = config_of("dense", "64GB");
  fit_memory(config);
  EXPECT_EQ(config.train.recomputed, 0);
  EXPECT_EQ(describe_memory(config),
            "train.memory = \"64GB\": no layer needs to be computed again");
}

TEST(MemoryBudgetOfARun, says_what_a_step_takes_where_nothing_helps) {
  RunConfig config = config_of("dense", "1MB");
  try {
    fit_memory(config);
    FAIL();
  } catch (const core::Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("with every layer recomputed, but train.memory = \"1MB\" allows"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("lower train.batch or data.length"), std::string::npos) << text;
  }
}

TEST(MemoryBudgetOfARun, is_a_number_of_bytes) {
  const std::map<std::string, Index> sizes = {
      {"4GB", 4'000'000'000}, {"512 MiB", 536'870'912}, {"2.5e6", 2'500'000}};
  for (const auto& [text, bytes] : sizes)
    EXPECT_EQ(config_of("dense", text).train.memory_bytes(), bytes) << text;
  for (const char* const text : {"much", "4 G", "-1GB", "0", "1e30GB"})
    EXPECT_THROW(config_of("dense", text), core::Error) << text;
}

TEST(MemoryBudgetOfARun, belongs_to_models_that_keep_activations) {
  for (const char* const other : {"train.recompute=true", "model.reversible=true"})
    EXPECT_THROW(RunConfig::from_text(model_of_six_layers, "six.toml", {"train.memory=4GB", other}),
                 core::Error)
        << other;
}

TEST(MemoryBudgetOfARun, does_not_make_it_another_run) {
  const std::string own = config_of("dense").identity();
  EXPECT_EQ(config_of("dense", "\"\"").identity(), own);
}

}  // namespace
}  // namespace weft::experiments::memory_budget_test
