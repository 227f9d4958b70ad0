#include "optim/settings.h"

#include <algorithm>

#include "core/error.h"
#include "optim/registry.h"
#include "optim/sgd.h"
#include "tests/layers/given_fields.h"
#include "tests/optim/sample_parameters.h"

namespace weft::optim::settings_test {
namespace {

using Keys = std::vector<std::string>;

/// What the listing of these settings visits and reports.
tests::GivenFields visit(tests::Settings given) {
  tests::GivenFields fields(std::move(given));
  OptimSettings settings;
  settings.fields(fields);
  return fields;
}

std::string kind(std::string_view name) { return std::string(name); }

TEST(OptimSettings, of_adam_kinds_have_betas_and_no_momentum) {
  for (const char* name : {"adam", "adamw"})
    EXPECT_EQ(visit({{"kind", kind(name)}}).visited(),
              (Keys{"kind", "lr", "beta1", "beta2", "eps", "weight_decay", "clip", "warmup",
                    "schedule"}));
}

TEST(OptimSettings, of_sgd_have_momentum_and_no_betas) {
  EXPECT_EQ(visit({{"kind", kind("sgd")}}).visited(),
            (Keys{"kind", "lr", "momentum", "weight_decay", "clip", "warmup", "schedule"}));
}

TEST(OptimSettings, of_adagrad_have_a_clip_for_each_tensor) {
  EXPECT_EQ(
      visit({{"kind", kind("adagrad")}}).visited(),
      (Keys{"kind", "lr", "eps", "tensor_clip", "weight_decay", "clip", "warmup", "schedule"}));
}

TEST(OptimSettings, name_a_final_rate_only_where_the_schedule_has_one) {
  for (const char* schedule : {"cosine", "linear"})
    EXPECT_EQ(visit({{"schedule", kind(schedule)}}).visited().back(), "final_lr");
  for (const char* schedule : {"constant", "rsqrt"})
    EXPECT_EQ(visit({{"schedule", kind(schedule)}}).visited().back(), "schedule");
}

TEST(OptimSettings, of_every_rule_are_sound_by_default) {
  for (const OptimizerEntry& entry : optimizer_registry())
    for (const char* schedule : {"constant", "cosine", "linear", "rsqrt"})
      EXPECT_TRUE(
          visit({{"kind", kind(entry.kind)}, {"schedule", kind(schedule)}}).problems().empty())
          << entry.kind;
}

TEST(OptimSettings, limit_every_number_on_both_sides) {
  for (const OptimizerEntry& entry : optimizer_registry()) {
    const tests::Settings plain{{"kind", kind(entry.kind)}, {"schedule", kind("linear")}};
    const Keys keys = visit(plain).visited();
    for (const std::string& key : keys) {
      if (key == "kind" || key == "schedule") continue;
      for (const double bad : {-1.0, 1e31}) {
        tests::Settings given = plain;
        if (key == "warmup")
          given[key] = core::Index(std::min(bad, 1e13));
        else
          given[key] = bad;
        EXPECT_TRUE(visit(given).problems().contains(key)) << entry.kind << ' ' << key;
      }
    }
  }
  EXPECT_TRUE(visit({{"beta1", 1.0}}).problems().contains("beta1"));
  EXPECT_TRUE(visit({{"eps", 0.0}}).problems().contains("eps"));
}

TEST(OptimSettings, report_a_final_rate_above_the_peak) {
  const auto fields = visit({{"lr", 1e-4}, {"schedule", kind("cosine")}, {"final_lr", 1e-3}});
  ASSERT_TRUE(fields.problems().contains("final_lr"));
  EXPECT_EQ(fields.problems().at("final_lr"), "must be at most lr, which is 0.0001");
  EXPECT_TRUE(
      visit({{"lr", 1e-4}, {"schedule", kind("constant")}, {"final_lr", 1e-3}}).problems().empty());
}

TEST(OptimSettings, report_a_decay_that_would_flip_signs) {
  EXPECT_TRUE(visit({{"lr", 0.5}, {"weight_decay", 2.0}}).problems().contains("weight_decay"));
  EXPECT_TRUE(visit({{"lr", 0.5}, {"weight_decay", 0.1}}).problems().empty());
  EXPECT_TRUE(visit({{"kind", kind("sgd")}, {"lr", 0.5}, {"weight_decay", 2.0}}).problems().empty())
      << "only adamw shrinks weights directly";
}

TEST(OptimSettings, report_an_unknown_kind) {
  EXPECT_TRUE(visit({{"kind", kind("adamax")}}).problems().contains("kind"));
}

/// An update rule of a program that uses the library: steps of SGD without a setting but its own.
OptimizerPlan configure_own(core::Fields& fields) {
  SgdSettings settings{.momentum = 0.5};
  fields.number("kept", settings.momentum, "how much of a step the next one repeats",
                core::between(0, 0.9));
  return {.make = [=](const autograd::ParameterArena& arena, double weight_decay) {
    return std::make_unique<Sgd>(settings, weight_decay, arena);
  }};
}

TEST(OptimizerRegistry, takes_rules_of_other_programs) {
  register_optimizer("own", configure_own);
  tests::GivenFields fields({{"kind", kind("own")}, {"kept", 0.25}});
  OptimSettings settings;
  settings.fields(fields);
  EXPECT_TRUE(fields.problems().empty());
  EXPECT_EQ(fields.visited(),
            (Keys{"kind", "lr", "kept", "weight_decay", "clip", "warmup", "schedule"}));
  SampleParameters sample;
  EXPECT_EQ(settings.make_optimizer(sample.arena)->moments().front().name.substr(0, 2), "m/");
  EXPECT_EQ(optimizer_kinds().back(), "own");
  EXPECT_THROW(register_optimizer("sgd", configure_own), core::Error);
}

TEST(OptimSettings, make_no_optimizer_before_they_are_read) {
  SampleParameters sample;
  EXPECT_THROW(OptimSettings{}.make_optimizer(sample.arena), core::Error);
}

}  // namespace
}  // namespace weft::optim::settings_test
