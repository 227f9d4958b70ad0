#include "optim/settings.h"

#include <algorithm>
#include <map>

namespace weft::optim {
namespace {

// Notes which keys were visited, their ranges and the problems reported.
class NotingFields final : public core::Fields {
 public:
  std::vector<std::unique_ptr<core::Fields>> tables(std::string_view, std::string_view) override {
    return {};
  }
  void problem(std::string_view key, const std::string& message) override {
    problems[std::string(key)] = message;
  }

  std::vector<std::string> keys;
  std::map<std::string, core::Range> ranges;
  std::map<std::string, std::string> problems;

 private:
  void visit(const core::Field& field) override {
    EXPECT_FALSE(field.help.empty()) << field.key;
    keys.emplace_back(field.key);
    ranges[std::string(field.key)] = field.range;
    if (field.options.empty()) return;
    EXPECT_NE(std::ranges::find(field.options, *std::get<std::string*>(field.value)),
              field.options.end())
        << field.key;
  }
};

NotingFields visit(OptimSettings settings) {
  NotingFields fields;
  settings.fields(fields);
  return fields;
}

using Keys = std::vector<std::string>;

TEST(OptimSettings, of_adam_kinds_have_betas_and_no_momentum) {
  for (const char* kind : {"adam", "adamw"})
    EXPECT_EQ(visit({.kind = kind}).keys, (Keys{"kind", "lr", "beta1", "beta2", "eps",
                                                "weight_decay", "clip", "warmup", "schedule"}));
}

TEST(OptimSettings, of_sgd_have_momentum_and_no_betas) {
  EXPECT_EQ(visit({.kind = "sgd"}).keys,
            (Keys{"kind", "lr", "momentum", "weight_decay", "clip", "warmup", "schedule"}));
}

TEST(OptimSettings, of_adagrad_have_a_clip_for_each_tensor) {
  EXPECT_EQ(visit({.kind = "adagrad"}).keys, (Keys{"kind", "lr", "eps", "tensor_clip",
                                                   "weight_decay", "clip", "warmup", "schedule"}));
}

TEST(OptimSettings, name_a_final_rate_only_where_the_schedule_has_one) {
  for (const char* schedule : {"cosine", "linear"})
    EXPECT_EQ(visit({.schedule = schedule}).keys.back(), "final_lr");
  for (const char* schedule : {"constant", "rsqrt"})
    EXPECT_EQ(visit({.schedule = schedule}).keys.back(), "schedule");
}

TEST(OptimSettings, are_sound_by_default) {
  EXPECT_TRUE(visit({}).problems.empty());
  EXPECT_TRUE(visit({.schedule = "cosine"}).problems.empty());
}

TEST(OptimSettings, limit_every_number_on_both_sides) {
  for (const char* kind : {"adamw", "sgd", "adagrad"})
    for (const auto& [key, range] : visit({.kind = kind, .schedule = "linear"}).ranges) {
      if (key == "kind" || key == "schedule") continue;
      EXPECT_GE(range.low, 0) << key;
      EXPECT_LE(range.high, 1e30) << key;
    }
  EXPECT_LT(visit({}).ranges.at("beta1").high, 1);
  EXPECT_GT(visit({}).ranges.at("eps").low, 0);
}

TEST(OptimSettings, report_a_final_rate_above_the_peak) {
  const auto fields = visit({.lr = 1e-4, .schedule = "cosine", .final_lr = 1e-3});
  ASSERT_TRUE(fields.problems.contains("final_lr"));
  EXPECT_EQ(fields.problems.at("final_lr"), "must be at most lr, which is 0.0001");
  EXPECT_TRUE(visit({.lr = 1e-4, .schedule = "constant", .final_lr = 1e-3}).problems.empty());
}

TEST(OptimSettings, report_a_decay_that_would_flip_signs) {
  EXPECT_TRUE(visit({.lr = 0.5, .weight_decay = 2}).problems.contains("weight_decay"));
  EXPECT_TRUE(visit({.lr = 0.5, .weight_decay = 0.1}).problems.empty());
}

}  // namespace
}  // namespace weft::optim
