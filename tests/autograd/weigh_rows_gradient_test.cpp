#include "autograd/ops.h"
#include "core/error.h"
#include "tests/gradient_check.h"

namespace weft::autograd::weigh_rows_gradient_test {
namespace {

TEST(WeighRowsGradient, agrees_with_differences) {
  tests::check_gradient(
      "weigh_rows", [](const Pass&, const std::vector<Var>& x) { return weigh_rows(x[0], x[1]); },
      {tests::random_tensor({70, 5}, 1), tests::random_tensor({70, 1}, 2)});
}

TEST(WeighRows, refuses_weights_of_another_number_of_rows) {
  EXPECT_THROW(weigh_rows(Var(Tensor({4, 2}, 1)), Var(Tensor({3, 1}, 1))), core::Error);
}

}  // namespace
}  // namespace weft::autograd::weigh_rows_gradient_test
