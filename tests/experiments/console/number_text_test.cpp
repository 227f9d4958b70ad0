#include "experiments/console/number_text.h"

#include <limits>

namespace weft::experiments::number_text_test {
namespace {

TEST(NumberText, shortens_counts_and_durations) {
  EXPECT_EQ(format_count(950), "950");
  EXPECT_EQ(format_count(12543), "12.5k");
  EXPECT_EQ(format_count(1234567), "1.2M");
  EXPECT_EQ(format_duration(45), "45s");
  EXPECT_EQ(format_duration(12 * 60 + 59), "12m");
  EXPECT_EQ(format_duration(3 * 3600 + 5 * 60), "3h05m");
  EXPECT_EQ(format_duration(52 * 3600), "2d04h");
  EXPECT_EQ(format_duration(-1), "0s");
}

TEST(NumberText, has_the_decimals_that_are_asked_for_at_any_size) {
  EXPECT_EQ(format_fixed(1.25, 1), "1.2");
  EXPECT_EQ(format_fixed(-0.5, 3), "-0.500");
  EXPECT_EQ(format_signed(0.5, 3), "+0.500");
  EXPECT_EQ(format_fixed(1e300, 0).size(), 301u);
}

TEST(NumberText, says_when_there_is_no_number) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(format_fixed(nothing, 3), "—");
  EXPECT_EQ(format_signed(-1 / 0.0, 3), "—");
  EXPECT_EQ(format_count(nothing), "?");
  EXPECT_EQ(format_duration(nothing), "?");
}

TEST(NumberText, exact_numbers_have_the_fewest_digits_and_a_short_exponent) {
  EXPECT_EQ(format_exact(0.1), "0.1");
  EXPECT_EQ(format_exact(12), "12");
  EXPECT_EQ(format_exact(1e-6), "1e-6");
  EXPECT_EQ(format_mib(12.5 * (1 << 20)), "12.5");
}

}  // namespace
}  // namespace weft::experiments::number_text_test
