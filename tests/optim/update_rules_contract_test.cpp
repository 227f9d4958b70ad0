#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/optim/given_rule.h"
#include "tests/optim/sample_parameters.h"

namespace weft::optim::update_rules_contract_test {
namespace {

using core::Index;
using core::Real;

constexpr bool is_double = sizeof(Real) == sizeof(double);
constexpr double tolerance = is_double ? 1e-13 : 1e-6;

// The rules once more, one number at a time, always in double.
struct NaiveRule {
  GivenRule settings;
  bool decays = false;
  double p = 0, m = 0, v = 0;

  /// `length`: of the gradient of the whole parameter.
  void step(double g, Index t, double rate, double length) {
    const double decay = decays ? settings.weight_decay : 0;
    if (settings.kind != "adamw") g += decay * p;
    if (settings.kind == "adagrad") {
      v += g * g;
      const bool shorter = settings.tensor_clip > 0 && length > settings.tensor_clip;
      p -= rate * (shorter ? settings.tensor_clip / length : 1) * g / (std::sqrt(v) + settings.eps);
      return;
    }
    if (settings.kind == "sgd") {
      m = settings.momentum * m + g;
      p -= rate * m;
      return;
    }
    m = settings.beta1 * m + (1 - settings.beta1) * g;
    v = settings.beta2 * v + (1 - settings.beta2) * g * g;
    if (settings.kind == "adamw") p -= rate * decay * p;
    const double mean = m / (1 - std::pow(settings.beta1, t));
    const double square = v / (1 - std::pow(settings.beta2, t));
    p -= rate * mean / (std::sqrt(square) + settings.eps);
  }
};

std::vector<NaiveRule> naive_rules(SampleParameters& sample, const GivenRule& settings) {
  std::vector<NaiveRule> rules;
  for (const auto& slot : sample.arena.slots())
    for (const Real value : sample.arena.value(slot))
      rules.push_back({settings, slot.shape.rank() >= 2, value});
  return rules;
}

void expect_equal(SampleParameters& sample, const std::vector<NaiveRule>& rules) {
  std::size_t i = 0;
  for (const auto& slot : sample.arena.slots())
    for (const Real value : sample.arena.value(slot)) {
      const NaiveRule& rule = rules[i++];
      ASSERT_NEAR(value, rule.p, tolerance * std::max(1.0, std::abs(rule.p))) << slot.name;
    }
}

void expect_the_naive_result(const GivenRule& settings, double gradient_scale = 1) {
  SampleParameters sample;
  const auto optimizer = make_optimizer(settings, sample.arena);
  auto rules = naive_rules(sample, settings);
  for (Index step = 0; step < 8; ++step) {
    const double rate = settings.lr / double(1 + step);
    sample.draw_gradients(step);
    std::size_t i = 0;
    for (const auto& slot : sample.arena.slots()) {
      double squares = 0;
      for (const Real g : sample.gradient(slot)) squares += double(g) * double(g);
      for (const Real g : sample.gradient(slot))
        rules[i++].step(gradient_scale * g, step + 1, rate, gradient_scale * std::sqrt(squares));
    }
    optimizer->step(sample.arena, {step, rate, gradient_scale});
    expect_equal(sample, rules);
  }
}

TEST(UpdateRules, adam_matches_its_formula) {
  expect_the_naive_result({.kind = "adam", .lr = 1e-2, .beta2 = 0.999});
}

TEST(UpdateRules, adam_adds_decay_to_the_gradient) {
  expect_the_naive_result({.kind = "adam", .lr = 1e-2, .beta1 = 0.8, .weight_decay = 0.3});
}

TEST(UpdateRules, adamw_decays_apart_from_the_gradient) {
  expect_the_naive_result({.kind = "adamw", .lr = 1e-2, .eps = 1e-6, .weight_decay = 0.3});
}

TEST(UpdateRules, sgd_matches_its_formula) {
  expect_the_naive_result({.kind = "sgd", .lr = 1e-2, .momentum = 0, .weight_decay = 0.1});
}

TEST(UpdateRules, sgd_gathers_momentum) {
  expect_the_naive_result({.kind = "sgd", .lr = 1e-2, .momentum = 0.9, .weight_decay = 0.1});
}

// The sample's tensors have gradients both longer and shorter than 3.
TEST(UpdateRules, adagrad_shortens_the_steps_of_tensors_with_long_gradients) {
  for (const double tensor_clip : {0.03, 3.0, 0.0})
    expect_the_naive_result(
        {.kind = "adagrad", .lr = 0.07, .eps = 1e-10, .tensor_clip = tensor_clip});
}

TEST(UpdateRules, adagrad_sums_the_squares_of_gradients_as_they_are) {
  SampleParameters sample;
  const auto optimizer = make_optimizer({.kind = "adagrad"}, sample.arena);
  sample.draw_gradients(0);
  optimizer->step(sample.arena, {0, 1e-2});
  for (const core::NamedArray& moment : optimizer->moments())
    for (const auto& slot : sample.arena.slots()) {
      if (moment.name != "v/" + slot.name) continue;
      for (std::size_t i = 0; i < moment.values.size(); ++i) {
        const Real g = sample.gradient(slot)[i];
        ASSERT_EQ(moment.values[i], g * g) << slot.name;
      }
    }
}

TEST(UpdateRules, the_gradient_scale_multiplies_every_gradient) {
  for (const char* kind : {"adam", "adamw", "sgd", "adagrad"})
    expect_the_naive_result({.kind = kind, .lr = 1e-2, .weight_decay = 0.1}, 0.25);
}

TEST(UpdateRules, the_first_step_of_adam_is_as_long_as_the_rate) {
  SampleParameters sample;
  const GivenRule settings{.beta2 = 0.999, .eps = 1e-30};
  sample.draw_gradients(0);
  const std::vector<Real> before = sample.values();
  make_optimizer(settings, sample.arena)->step(sample.arena, {0, 0.5});
  for (const auto& slot : sample.arena.slots())
    for (Index i = slot.offset; i < slot.offset + slot.size; ++i) {
      const auto at = std::size_t(i);
      const double sign = sample.arena.gradients()[at] > 0 ? 1 : -1;
      ASSERT_NEAR(sample.arena.values()[at], before[at] - 0.5 * sign, is_double ? 1e-14 : 1e-6);
    }
}

// With zero gradients: adam turns any pull into a step as long as the rate, the others shrink.
TEST(UpdateRules, decay_pulls_matrices_and_never_vectors) {
  constexpr double rate = 1e-2, decay = 0.5;
  for (const std::string kind : {"adam", "adamw", "sgd"}) {
    SampleParameters sample;
    const std::vector<Real> before = sample.values();
    const GivenRule settings{.kind = kind, .eps = 1e-30, .weight_decay = decay};
    make_optimizer(settings, sample.arena)->step(sample.arena, {0, rate});
    for (const auto& slot : sample.arena.slots())
      for (Index i = slot.offset; i < slot.offset + slot.size; ++i) {
        const double was = before[std::size_t(i)];
        const double pull = kind == "adam" ? std::copysign(rate, was) : rate * decay * was;
        const double expected = slot.shape.rank() >= 2 ? was - pull : was;
        ASSERT_NEAR(sample.arena.values()[std::size_t(i)], expected, tolerance)
            << kind << ' ' << slot.name;
      }
  }
}

TEST(UpdateRules, results_are_the_same_bits_at_any_thread_count) {
  for (const char* kind : {"adam", "adamw", "sgd", "adagrad"}) {
    std::vector<std::vector<Real>> results;
    for (const Index threads : {1, 2, 4}) {
      core::set_threads(threads);
      SampleParameters sample;
      const auto optimizer = make_optimizer({.kind = kind, .weight_decay = 0.1}, sample.arena);
      for (Index step = 0; step < 3; ++step) {
        sample.draw_gradients(step);
        optimizer->step(sample.arena, {step, 1e-2});
      }
      results.push_back(sample.values());
    }
    core::set_threads(0);
    EXPECT_EQ(results[0], results[1]) << kind;
    EXPECT_EQ(results[0], results[2]) << kind;
  }
}

TEST(UpdateRules, padding_between_parameters_stays_zero) {
  SampleParameters sample;
  const auto optimizer = make_optimizer({.weight_decay = 0.1}, sample.arena);
  sample.draw_gradients(0);
  optimizer->step(sample.arena, {0, 1e-2});
  std::vector<Real> values = sample.values();
  for (const auto& slot : sample.arena.slots())
    std::fill_n(values.begin() + slot.offset, slot.size, Real(0));
  EXPECT_EQ(values, std::vector<Real>(values.size(), Real(0)));
}

TEST(Optimizer, refuses_an_arena_it_was_not_made_for) {
  SampleParameters sample;
  const auto optimizer = make_optimizer({}, sample.arena);
  autograd::Parameter other({3}, autograd::Init::ones());
  autograd::Inventory inventory;
  inventory.add("other", other);
  autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training);
  EXPECT_THROW(optimizer->step(arena, {}), core::Error);
}

TEST(Optimizer, refuses_an_arena_without_gradients) {
  autograd::Parameter weight({3, 3}, autograd::Init::ones());
  autograd::Inventory inventory;
  inventory.add("weight", weight);
  autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::inference);
  const auto optimizer = make_optimizer({}, arena);
  EXPECT_THROW(optimizer->step(arena, {}), core::Error);
}

}  // namespace
}  // namespace weft::optim::update_rules_contract_test
