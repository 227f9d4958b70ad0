#include <algorithm>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/pull_back.h"

namespace weft::autograd::max_rows_test {
namespace {

Tensor filled(const Shape& shape, const std::vector<Real>& numbers) {
  Tensor x(shape);
  std::ranges::copy(numbers, x.write().begin());
  return x;
}

TEST(MaxRows, is_the_largest_number_of_each_column_among_the_first_rows_of_each_sequence) {
  const Tensor x = filled({6, 2}, {1, 5, 3, 2, 9, 9, -4, -1, -2, -3, 0, 7});
  const Tensor y = max_rows(Var(x), {2, 3}).value();
  const std::vector<Real> expected = {3, 5, 0, 7};
  EXPECT_EQ(std::vector<Real>(y.read().begin(), y.read().end()), expected);
}

TEST(MaxRows, gives_the_gradient_to_the_first_of_equals) {
  const Tensor x = filled({3, 1}, {2, 2, 1});
  const auto pulled = tests::pull_back(
      [](const Pass&, const std::vector<Var>& in) { return max_rows(in[0], {3}); }, {x});
  EXPECT_EQ(pulled.gradients[0].read()[0], pulled.upstream.read()[0]);
  EXPECT_EQ(pulled.gradients[0].read()[1], 0);
}

TEST(MaxRows, refuses_counts_that_no_sequence_has) {
  const Var x(Tensor({4, 2}, 1));
  EXPECT_THROW(max_rows(x, {2, 3}), core::Error);
  EXPECT_THROW(max_rows(x, {0, 2}), core::Error);
  EXPECT_THROW(max_rows(x, {1, 1, 1}), core::Error);
}

}  // namespace
}  // namespace weft::autograd::max_rows_test
