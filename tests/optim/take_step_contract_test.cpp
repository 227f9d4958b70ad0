#include <cmath>
#include <limits>

#include "core/parallel.h"
#include "optim/gradient_norm.h"
#include "optim/schedule.h"
#include "optim/take_step.h"
#include "tests/optim/given_rule.h"
#include "tests/optim/sample_parameters.h"

namespace weft::optim::take_step_contract_test {
namespace {

using core::Index;
using core::Real;

// Plain descent, so that a step shows the gradient that was applied.
const OptimSettings plain = settings_of({.kind = "sgd", .lr = 1, .momentum = 0, .clip = 0});

double naive_norm(std::span<const Real> x) {
  long double sum = 0;
  for (const Real value : x) sum += static_cast<long double>(value) * value;
  return double(std::sqrt(sum));
}

TEST(GradientNorm, is_the_length_of_the_whole_array) {
  for (const std::size_t size : {0, 1, 7, 8, 100, 32768, 32769, 250001}) {
    std::vector<Real> x(size);
    core::fill_normal(x, core::Rng(3), 2);
    EXPECT_NEAR(gradient_norm(x), naive_norm(x), 1e-13 * naive_norm(x)) << size;
  }
}

TEST(GradientNorm, keeps_small_gradients_beside_a_large_one) {
  std::vector<Real> x(1 << 20, Real(1));
  x[0] = 4096;  // 2^24 + 2^20 - 1: a float sum would stay at 2^24
  EXPECT_DOUBLE_EQ(gradient_norm(x), std::sqrt(16777216.0 + 1048575.0));
}

TEST(GradientNorm, does_not_overflow_in_float) {
  const std::vector<Real> x(4, Real(1e30));
  EXPECT_NEAR(gradient_norm(x), 2e30, 1e24);
}

TEST(GradientNorm, is_the_same_at_any_thread_count) {
  std::vector<Real> x(300007);
  core::fill_normal(x, core::Rng(4), 1);
  core::set_threads(1);
  const double one = gradient_norm(x);
  core::set_threads(4);
  EXPECT_EQ(gradient_norm(x), one);
  core::set_threads(0);
}

TEST(ClippingScale, is_clip_over_norm_with_a_guard_and_never_enlarges) {
  EXPECT_EQ(clipping_scale(4, 1), 1 / (4 + 1e-6));
  EXPECT_EQ(clipping_scale(1, 1), 1 / (1 + 1e-6));
  EXPECT_EQ(clipping_scale(0.5, 1), 1);
  EXPECT_EQ(clipping_scale(0, 1), 1);
  EXPECT_EQ(clipping_scale(1e9, 0), 1);
}

TEST(TakeStep, clips_the_applied_gradient_to_the_norm_and_reports_the_norm_before) {
  SampleParameters sample;
  sample.draw_gradients(0);
  const std::vector<Real> before = sample.values();
  const double norm = naive_norm(sample.arena.gradients());
  OptimSettings settings = plain;
  settings.clip = 0.5;
  const auto optimizer = settings.make_optimizer(sample.arena);
  const StepReport report = take_step(*optimizer, sample.arena, settings, 0, 1);
  EXPECT_TRUE(report.applied);
  EXPECT_NEAR(report.gradient_norm, norm, 1e-12 * norm);
  const Real scale = Real(0.5 / (report.gradient_norm + 1e-6));
  for (std::size_t i = 0; i < before.size(); ++i)
    ASSERT_NEAR(sample.arena.values()[i], before[i] - scale * sample.arena.gradients()[i],
                4 * std::numeric_limits<Real>::epsilon() * std::max(Real(1), std::abs(before[i])));
}

TEST(TakeStep, leaves_gradients_below_the_clip_alone) {
  SampleParameters clipped, free;
  clipped.draw_gradients(0, 1e-6);
  free.draw_gradients(0, 1e-6);
  OptimSettings settings = plain;
  settings.clip = 1;
  take_step(*settings.make_optimizer(clipped.arena), clipped.arena, settings, 0, 1);
  take_step(*plain.make_optimizer(free.arena), free.arena, plain, 0, 1);
  EXPECT_EQ(clipped.values(), free.values());
}

TEST(TakeStep, changes_nothing_when_a_gradient_is_not_finite) {
  for (const Real bad :
       {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
    SampleParameters sample;
    sample.draw_gradients(0);
    sample.arena.gradients()[12345] = bad;
    const std::vector<Real> before = sample.values();
    const OptimSettings settings = settings_of({});
    const auto optimizer = settings.make_optimizer(sample.arena);
    const StepReport report = take_step(*optimizer, sample.arena, settings, 0, 1);
    EXPECT_FALSE(report.applied);
    EXPECT_FALSE(std::isfinite(report.gradient_norm));
    EXPECT_EQ(sample.values(), before);
    for (const core::NamedArray& moment : optimizer->moments())
      for (const Real x : moment.values) ASSERT_EQ(x, 0) << moment.name;
  }
}

TEST(TakeStep, moves_at_the_scheduled_rate) {
  SampleParameters sample;
  OptimSettings settings = plain;
  settings.lr = 0.5;
  settings.warmup = 3;
  settings.schedule = Schedule::cosine;
  const auto optimizer = settings.make_optimizer(sample.arena);
  for (const Index step : {0, 2, 3, 7, 9}) {
    sample.draw_gradients(step);
    const Real before = sample.arena.values()[0], gradient = sample.arena.gradients()[0];
    const StepReport report = take_step(*optimizer, sample.arena, settings, step, 10);
    EXPECT_EQ(report.rate, learning_rate(settings, step, 10));
    EXPECT_EQ(sample.arena.values()[0], before - Real(report.rate) * gradient);
  }
}

TEST(TakeStep, with_half_the_scale_averages_two_micro_batches) {
  SampleParameters sample;
  sample.draw_gradients(0);
  const std::vector<Real> first(sample.arena.gradients().begin(), sample.arena.gradients().end());
  sample.draw_gradients(1);
  for (std::size_t i = 0; i < first.size(); ++i) sample.arena.gradients()[i] += first[i];
  OptimSettings settings = plain;
  settings.clip = 1;
  const double norm = 0.5 * naive_norm(sample.arena.gradients());
  const std::vector<Real> before = sample.values();
  const auto optimizer = settings.make_optimizer(sample.arena);
  const StepReport report = take_step(*optimizer, sample.arena, settings, 0, 1, 0.5);
  EXPECT_NEAR(report.gradient_norm, norm, 1e-12 * norm);
  const Real scale = Real(0.5 / (norm + 1e-6));
  for (std::size_t i = 0; i < before.size(); ++i)
    ASSERT_NEAR(sample.arena.values()[i], before[i] - scale * sample.arena.gradients()[i],
                4 * std::numeric_limits<Real>::epsilon() * std::max(Real(1), std::abs(before[i])));
}

}  // namespace
}  // namespace weft::optim::take_step_contract_test
