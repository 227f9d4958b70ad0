#include "core/arrays/scratch.h"

namespace weft::core::scratch_test {
namespace {

TEST(Scratch, pieces_follow_each_other_and_no_more_is_given_than_there_is) {
  Scratch scratch(10);
  Real* const first = scratch.take(4);
  EXPECT_EQ(scratch.take(0), first + 4);
  EXPECT_EQ(scratch.take(6), first + 4);
  EXPECT_THROW(scratch.take(1), Error);
}

}  // namespace
}  // namespace weft::core::scratch_test
