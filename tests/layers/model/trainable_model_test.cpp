#include "layers/model/trainable_model.h"

#include <cmath>

#include "core/error.h"
#include "core/fields.h"
#include "layers/settings/default_plans.h"
#include "tests/random_values.h"

namespace weft::layers::trainable_model_test {
namespace {

const ModelShape shape{.vocabulary = 11, .length = 16};

Reading reading(std::uint64_t seed) {
  return {{.inputs = tests::random_tokens({2, 16}, 11, seed),
           .targets = tests::random_tokens({2, 16}, 11, seed + 1)}};
}

/// Plain gradient descent.
bool descend(autograd::ParameterArena& arena) {
  const std::span<Real> values = arena.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= Real(0.1) * arena.gradients()[i];
  return true;
}

TEST(TrainableModel, learns_from_a_reading_without_any_config) {
  TrainableModel it({.layers = 1, .width = 16}, shape);
  const double first = it.step(reading(1), core::Rng(1), descend);
  double last = first;
  for (int i = 0; i < 30; ++i) last = it.step(reading(1), core::Rng(1), descend);
  EXPECT_NEAR(first, std::log(11), 0.5);
  EXPECT_LT(last, first - 0.1);
}

TEST(TrainableModel, draws_the_same_parameters_from_the_same_seed) {
  TrainableModel one({}, shape, 5), same({}, shape, 5), other({}, shape, 6);
  EXPECT_TRUE(std::ranges::equal(one.arena().values(), same.arena().values()));
  EXPECT_FALSE(std::ranges::equal(one.arena().values(), other.arena().values()));
}

/// A mechanism's centroids, which are statistics and no parameters.
std::vector<Real> states(const TrainableModel& it) {
  std::vector<Real> all;
  for (const auto& [name, state] : it.inventory().states())
    all.insert(all.end(), state->value().read().begin(), state->value().read().end());
  return all;
}

TEST(TrainableModel, commits_statistics_only_where_the_update_was_made) {
  TrainableModel it({.layers = 1, .width = 16, .attention = {"routing"}}, shape);
  const std::vector<Real> before = states(it);
  ASSERT_FALSE(before.empty());
  it.step(reading(1), core::Rng(1), [](auto&) { return false; });
  EXPECT_EQ(states(it), before);
  it.step(reading(1), core::Rng(1), descend);
  EXPECT_NE(states(it), before);
}

TEST(TrainableModel, brings_parameters_back_into_their_range) {
  TrainableModel it({.layers = 1, .width = 16, .attention = {"adaptive_span"}}, shape);
  const auto enlarge = [](autograd::ParameterArena& arena) {
    std::ranges::fill(arena.values(), Real(1e6));
    return true;
  };
  it.step(reading(1), core::Rng(1), enlarge);
  bool any = false;
  for (const Real x : it.arena().values()) any = any || x < Real(1e6);
  EXPECT_TRUE(any) << "no span was brought back";
}

TEST(DefaultPlans, refuse_names_that_only_a_config_could_define) {
  EXPECT_THROW(default_plans({.attention = {"mine"}}, 16), core::Error);
}

TEST(DefaultFields, report_defaults_that_do_not_fit_as_an_error) {
  core::DefaultFields defaults;
  EXPECT_THROW(defaults.problem("heads", "do not divide the width"), core::Error);
}

}  // namespace
}  // namespace weft::layers::trainable_model_test
