#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::concat_test {
namespace {

using tests::random_tensor;

TEST(Concat, lays_parts_side_by_side_and_cuts_their_gradients_out) {
  const Tensor x = random_tensor({2, 3, 4}, 1), y = random_tensor({2, 3, 1}, 2);
  const auto pulled = tests::pull_back(
      [](const Pass&, const std::vector<Var>& in) {
        return concat({in[0], in[1]});
      },
      {x, y});
  EXPECT_EQ(pulled.value.shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(pulled.gradients[0].shape(), x.shape());
  EXPECT_EQ(pulled.gradients[1].shape(), y.shape());
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(pulled.value.read()[r * 5 + j], x.read()[r * 4 + j]);
      EXPECT_EQ(pulled.gradients[0].read()[r * 4 + j], pulled.upstream.read()[r * 5 + j]);
    }
    EXPECT_EQ(pulled.value.read()[r * 5 + 4], y.read()[r]);
    EXPECT_EQ(pulled.gradients[1].read()[r], pulled.upstream.read()[r * 5 + 4]);
  }
}

TEST(Concat, joins_what_slices_cut) {
  const Var x(random_tensor({300, 131}, 1));
  const Var joined = concat({slice(x, 0, 40), slice(x, 40, 1), slice(x, 41, 90)});
  EXPECT_TRUE(tests::same_bits(joined.value().read(), x.value().read()));
}

TEST(Concat, refuses_nothing_scalars_and_parts_whose_other_extents_differ) {
  EXPECT_THROW(concat({}), core::Error);
  EXPECT_THROW(concat({Var(Tensor({}, 1))}), core::Error);
  EXPECT_THROW(concat({Var(Tensor({2, 3}, 1)), Var(Tensor({3, 3}, 1))}), core::Error);
  EXPECT_THROW(concat({Var(Tensor({2, 3, 4}, 1)), Var(Tensor({3, 2, 4}, 1))}), core::Error);
  EXPECT_THROW(concat({Var(Tensor({6, 4}, 1)), Var(Tensor({2, 3, 4}, 1))}), core::Error);
}

}  // namespace
}  // namespace weft::autograd::concat_test
