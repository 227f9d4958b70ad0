#include "core/files/base64.h"

namespace weft::core::base64_test {
namespace {

TEST(Base64, writes_what_the_standard_says) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("Man"), "TWFu");
  EXPECT_EQ(base64("Ma"), "TWE=");
  EXPECT_EQ(base64("M"), "TQ==");
  EXPECT_EQ(base64("\xff\xef\xbe"), "/+++");
}

TEST(Base64, gives_every_byte_back) {
  std::string bytes;
  for (int i = 0; i < 600; ++i) {
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
    bytes += char(i * 7);
  }
}

TEST(Base64, refuses_what_is_none) {
  for (const char* text :
       {"A", "AAA", "AAAAA", "A===", "====", "AA=A", "AA==AAAA", "AA A", "\xff\xff\xff\xff"})
    EXPECT_FALSE(from_base64(text).has_value()) << text;
}

}  // namespace
}  // namespace weft::core::base64_test
