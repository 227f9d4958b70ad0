#include "core/files/json_nesting.h"

namespace weft::core::json_nesting_test {
namespace {

TEST(JsonNesting, counts_brackets_outside_of_texts) {
  EXPECT_FALSE(nests_too_deep(""));
  EXPECT_FALSE(nests_too_deep(R"({"a": [[1], {"b": "[[[["}]})"));
  EXPECT_FALSE(nests_too_deep('"' + std::string(1000, '[') + R"(\"[)" + '"'));
  EXPECT_FALSE(nests_too_deep(std::string(64, '[') + std::string(64, ']')));
  EXPECT_TRUE(nests_too_deep(std::string(65, '[')));
  EXPECT_TRUE(nests_too_deep(R"({"a\\":)" + std::string(200'000, '{')));
}

}  // namespace
}  // namespace weft::core::json_nesting_test
