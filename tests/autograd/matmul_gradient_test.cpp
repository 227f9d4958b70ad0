#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::matmul_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(MatmulGradient, agrees_with_differences_however_the_factors_are_stored) {
  struct Size {
    Index m, n, k;
  };
  for (const auto& [m, n, k] : {Size{1, 1, 1}, {1, 7, 5}, {7, 1, 3}, {5, 6, 9}, {520, 130, 40}})
    for (const bool flip_a : {false, true})
      for (const bool flip_b : {false, true})
        check_gradient(
            "matmul",
            [&](const Pass&, const Inputs& x) { return matmul(x[0], x[1], flip_a, flip_b); },
            {random_tensor(flip_a ? Shape{k, m} : Shape{m, k}, 1),
             random_tensor(flip_b ? Shape{n, k} : Shape{k, n}, 2)});
}

TEST(MatmulGradient, agrees_for_a_product_of_a_variable_with_itself) {
  check_gradient("matmul",
                 [](const Pass&, const Inputs& x) { return matmul(x[0], x[0], true, false); },
                 {random_tensor({5, 4}, 1)});
}

TEST(MatmulGradient, passes_by_a_constant) {
  const Var constant(random_tensor({4, 4}, 2));
  check_gradient(
      "matmul",
      [&](const Pass&, const Inputs& x) { return matmul(constant, matmul(x[0], constant)); },
      {random_tensor({4, 4}, 1)});
}

}  // namespace
}  // namespace weft::autograd::matmul_gradient_test
