#include "autograd/ops.h"
#include "core/error.h"
#include "tests/pull_back.h"

namespace weft::autograd::slice_test {
namespace {

using tests::random_tensor;

TEST(Slice, takes_columns_and_gives_zero_gradient_to_the_others) {
  const Tensor x = random_tensor({2, 3, 7}, 1);
  const auto pulled = tests::pull_back(
      [](const Pass&, const std::vector<Var>& in) { return slice(in[0], 2, 4); }, {x});
  EXPECT_EQ(pulled.value.shape(), (Shape{2, 3, 4}));
  for (std::size_t r = 0; r < 6; ++r)
    for (std::size_t j = 0; j < 7; ++j) {
      const bool inside = j >= 2 && j < 6;
      if (inside) {
        EXPECT_EQ(pulled.value.read()[r * 4 + j - 2], x.read()[r * 7 + j]);
      }
      EXPECT_EQ(pulled.gradients[0].read()[r * 7 + j],
                inside ? pulled.upstream.read()[r * 4 + j - 2] : 0);
    }
}

TEST(Slice, refuses_columns_that_are_not_there) {
  const Var x(Tensor({2, 5}, 1));
  EXPECT_THROW(slice(x, 3, 3), core::Error);
  EXPECT_THROW(slice(x, -1, 2), core::Error);
  EXPECT_THROW(slice(x, 1, 0), core::Error);
  EXPECT_THROW(slice(Var(Tensor({}, 1)), 0, 1), core::Error);
}

}  // namespace
}  // namespace weft::autograd::slice_test
