#include "experiments/hold/outside_program.h"

namespace weft::experiments::outside_program_test {
namespace {

TEST(OutsideProgram, gives_the_exit_code_and_what_was_printed) {
  const auto result = run_outside({"sh", "-c", "cat; echo out; echo error >&2; exit 3"});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->code, 3);
  EXPECT_EQ(result->out, "out\n") << "its input is empty";
  EXPECT_EQ(result->err, "error\n");
  EXPECT_EQ(run_outside({"sh", "-c", "kill -9 $$"})->code, 137);
}

TEST(OutsideProgram, keeps_words_and_environment_as_they_are) {
  const auto result = run_outside({"sh", "-c", "printf '%s|' \"$@\" \"$A\"", "sh", "a b", "$c"},
                                  {"A=it's", "PATH=/bin:/usr/bin"});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->out, "a b|$c|it's|");
}

TEST(OutsideProgram, says_when_there_is_no_such_program) {
  EXPECT_FALSE(run_outside({"no-such-program-of-weft"}).has_value());
}

}  // namespace
}  // namespace weft::experiments::outside_program_test
