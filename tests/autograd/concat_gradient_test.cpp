#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::concat_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(ConcatGradient, agrees_with_differences) {
  const auto join = [](const Pass&, const Inputs& x) { return concat(x); };
  check_gradient("concat", join, {random_tensor({5}, 1)});
  check_gradient("concat", join, {random_tensor({1, 3}, 1), random_tensor({1, 1}, 2)});
  check_gradient(
      "concat", join,
      {random_tensor({2, 3, 5}, 1), random_tensor({2, 3, 1}, 2), random_tensor({2, 3, 7}, 3)});
  check_gradient("concat", join, {random_tensor({600, 60}, 1), random_tensor({600, 71}, 2)});
}

TEST(ConcatGradient, counts_a_part_that_occurs_twice_and_drops_constants) {
  const Var constant(random_tensor({4, 2}, 2));
  check_gradient("concat",
                 [&](const Pass&, const Inputs& x) {
                   return concat({x[0], constant, x[0]});
                 },
                 {random_tensor({4, 3}, 1)});
}

TEST(ConcatGradient, undoes_slices) {
  check_gradient("concat",
                 [](const Pass&, const Inputs& x) {
                   return concat({slice(x[0], 2, 3), slice(x[0], 0, 4)});
                 },
                 {random_tensor({3, 5}, 1)});
}

}  // namespace
}  // namespace weft::autograd::concat_gradient_test
