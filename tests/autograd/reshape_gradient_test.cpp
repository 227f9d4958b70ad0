#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::reshape_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(ReshapeGradient, agrees_with_differences) {
  check_gradient("reshape",
                 [](const Pass&, const Inputs& x) {
                   return reshape(x[0], {2, 3, 5});
                 },
                 {random_tensor({6, 5}, 1)});
  check_gradient("reshape", [](const Pass&, const Inputs& x) { return reshape(x[0], {39300}); },
                 {random_tensor({300, 131}, 1)});
}

TEST(ReshapeGradient, adds_up_over_shapes) {
  check_gradient("reshape",
                 [](const Pass&, const Inputs& x) {
                   return matmul(reshape(x[0], {4, 3}), reshape(x[0], {3, 4}));
                 },
                 {random_tensor({2, 6}, 1)});
}

}  // namespace
}  // namespace weft::autograd::reshape_gradient_test
