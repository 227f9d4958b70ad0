#include "core/error.h"

#include <limits>
#include <sstream>

#include "core/arrays/shape.h"

namespace weft::core::error_test {
namespace {

template <class... Parts>
std::string streamed(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

TEST(MessageOf, prints_numbers_as_a_stream_does) {
  for (const double x :
       {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 123456.0, 1234567.0, 1e-4, 1e-5, -2.5e-300,
        std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(message_of(x), streamed(x));
    EXPECT_EQ(message_of(float(x)), streamed(float(x)));
  }
  constexpr auto lowest = std::numeric_limits<long long>::min();
  constexpr auto highest = std::numeric_limits<unsigned long long>::max();
  EXPECT_EQ(message_of(7, ' ', -3L, ' ', 9u, ' ', lowest, ' ', highest, ' ', true),
            streamed(7, ' ', -3L, ' ', 9u, ' ', lowest, ' ', highest, ' ', true));
}

TEST(MessageOf, joins_text_of_every_kind_and_what_has_a_to_string) {
  const char array[] = "array";
  const char* const pointer = "pointer";
  EXPECT_EQ(message_of(array, '/', pointer, std::string("/string"), std::string_view("/view"), "",
                       Shape{2, 3}, Shape{}),
            "array/pointer/string/view[2, 3][]");
}

TEST(Require, throws_the_joined_parts_only_if_not_ok) {
  EXPECT_NO_THROW(require(true, "never"));
  try {
    require(false, "expected ", 2, ", got ", Shape{3});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "expected 2, got [3]");
    EXPECT_EQ(error.fault(), Fault::usage);
  }
}

}  // namespace
}  // namespace weft::core::error_test
