#include "optim/schedule.h"

#include <array>
#include <cmath>

#include "core/error.h"

namespace weft::optim::schedule_test {
namespace {

constexpr std::array every_schedule{Schedule::constant, Schedule::cosine, Schedule::linear,
                                    Schedule::rsqrt};

OptimSettings falling(Schedule schedule) {
  return {.lr = 1e-3, .warmup = 100, .schedule = schedule, .final_lr = 1e-4};
}

TEST(Schedule, climbs_in_equal_strides_to_the_peak) {
  for (const Schedule schedule : every_schedule) {
    const OptimSettings settings = falling(schedule);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 0, 2000), 1e-3 / 101);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 49, 2000), 1e-3 * 50 / 101);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 99, 2000), 1e-3 * 100 / 101);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 100, 2000), 1e-3) << int(schedule);
  }
}

TEST(Schedule, without_warm_up_begins_at_the_peak) {
  for (const Schedule schedule : every_schedule)
    EXPECT_DOUBLE_EQ(learning_rate({.lr = 0.25, .schedule = schedule}, 0, 10), 0.25)
        << int(schedule);
}

TEST(Schedule, constant_stays_at_the_peak) {
  const OptimSettings settings = falling(Schedule::constant);
  for (const core::Index step : {101, 1050, 1999, 2000, 9999})
    EXPECT_EQ(learning_rate(settings, step, 2000), 1e-3);
}

TEST(Schedule, cosine_falls_along_half_a_wave) {
  const OptimSettings settings = falling(Schedule::cosine);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1050, 2000), (1e-3 + 1e-4) / 2);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 575, 2000), 1e-4 + 9e-4 * 0.5 * (1 + std::sqrt(0.5)));
  EXPECT_GT(learning_rate(settings, 1999, 2000), 1e-4);
  EXPECT_NEAR(learning_rate(settings, 1999, 2000), 1e-4, 1e-9);
}

TEST(Schedule, linear_falls_along_a_line) {
  const OptimSettings settings = falling(Schedule::linear);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1050, 2000), (1e-3 + 1e-4) / 2);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 575, 2000), 1e-4 + 9e-4 * 0.75);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1999, 2000), 1e-4 + 9e-4 / 1900);
}

TEST(Schedule, cosine_and_linear_stay_at_the_final_rate_beyond_the_end) {
  for (const Schedule schedule : {Schedule::cosine, Schedule::linear})
    for (const core::Index step : {2000, 2001, 50000})
      EXPECT_EQ(learning_rate(falling(schedule), step, 2000), 1e-4) << int(schedule);
}

TEST(Schedule, rsqrt_halves_when_the_steps_are_four_times_as_many) {
  const OptimSettings settings = falling(Schedule::rsqrt);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 403, 2000), 1e-3 / 2);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 1615, 2000), 1e-3 / 4);
  EXPECT_DOUBLE_EQ(learning_rate(settings, 6463, 2000), 1e-3 / 8);  // past the end it goes on
}

TEST(Schedule, a_run_shorter_than_its_warm_up_only_climbs) {
  for (const Schedule schedule : {Schedule::cosine, Schedule::linear}) {
    const OptimSettings settings = falling(schedule);
    EXPECT_DOUBLE_EQ(learning_rate(settings, 49, 50), 1e-3 * 50 / 101);
    EXPECT_EQ(learning_rate(settings, 100, 100), 1e-4);
  }
}

TEST(Schedule, refuses_steps_before_the_first) {
  EXPECT_THROW(learning_rate({}, -1, 10), core::Error);
}

}  // namespace
}  // namespace weft::optim::schedule_test
