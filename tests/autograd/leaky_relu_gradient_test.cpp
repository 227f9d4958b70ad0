#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::leaky_relu_gradient_test {
namespace {

TEST(LeakyReluGradient, agrees_with_differences) {
  Tensor x = tests::random_tensor({9, 13}, 1);
  for (Real& v : x.write()) v += v < 0 ? Real(-0.1) : Real(0.1);  // not across the kink
  tests::check_gradient(
      "leaky_relu",
      [](const Pass&, const std::vector<Var>& in) { return leaky_relu(in[0], Real(0.01)); }, {x});
}

}  // namespace
}  // namespace weft::autograd::leaky_relu_gradient_test
