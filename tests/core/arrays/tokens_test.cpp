#include "core/arrays/tokens.h"

#include "core/error.h"

namespace weft::core::tokens_test {
namespace {

TEST(Tokens, hold_ids_in_their_shape) {
  const Tokens tokens({2, 3}, {0, 1, 2, no_target, 4, 5});
  EXPECT_EQ(tokens.shape(), (Shape{2, 3}));
  EXPECT_EQ(tokens.size(), 6);
  EXPECT_EQ(tokens.read()[3], no_target);
}

TEST(Tokens, share_their_ids_between_copies) {
  const Tokens tokens({2}, {7, 8});
  const Tokens copy = tokens;
  EXPECT_EQ(copy.read().data(), tokens.read().data());
}

TEST(Tokens, are_empty_by_default) {
  EXPECT_EQ(Tokens().size(), 0);
  EXPECT_TRUE(Tokens().read().empty());
}

TEST(Tokens, refuse_a_shape_that_does_not_fit) { EXPECT_THROW(Tokens({2, 2}, {1, 2, 3}), Error); }

}  // namespace
}  // namespace weft::core::tokens_test
