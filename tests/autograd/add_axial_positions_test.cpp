#include "autograd/ops.h"
#include "core/error.h"
#include "tests/drawn_parameters.h"
#include "tests/random_values.h"

namespace weft::autograd::add_axial_positions_test {
namespace {

TEST(AddAxialPositions, puts_a_row_of_the_grid_beside_a_column) {
  Parameter first({3, 2}, Init::zeros()), second({4, 3}, Init::zeros());
  const tests::DrawnParameters drawn({&first, &second});
  for (const auto& [length, start] : {std::pair{12, 0}, {5, 0}, {5, 7}, {1, 11}}) {
    const Tensor x = tests::random_tensor({2 * length, 5}, 1);
    const Tensor y = add_axial_positions(Var(x), first, second, length, start).value();
    for (Index r = 0; r < 2 * length; ++r)
      for (Index c = 0; c < 5; ++c) {
        const Index p = start + r % length;
        const Real added = c < 2 ? first.data()[p / 4 * 2 + c] : second.data()[p % 4 * 3 + c - 2];
        EXPECT_EQ(y.read()[std::size_t(5 * r + c)], x.read()[std::size_t(5 * r + c)] + added);
      }
  }
}

TEST(AddAxialPositions, refuses_what_the_grid_does_not_hold) {
  Parameter first({3, 2}, Init::zeros()), second({4, 3}, Init::zeros());
  const tests::DrawnParameters drawn({&first, &second});
  EXPECT_THROW(add_axial_positions(Var(Tensor({13, 5}, 0)), first, second, 13, 0), core::Error);
  EXPECT_THROW(add_axial_positions(Var(Tensor({2, 5}, 0)), first, second, 2, 11), core::Error);
  EXPECT_THROW(add_axial_positions(Var(Tensor({2, 6}, 0)), first, second, 2, 0), core::Error);
  EXPECT_THROW(add_axial_positions(Var(Tensor({5, 5}, 0)), first, second, 2, 0), core::Error);
}

}  // namespace
}  // namespace weft::autograd::add_axial_positions_test
