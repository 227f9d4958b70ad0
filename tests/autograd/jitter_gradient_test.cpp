#include "autograd/ops.h"
#include "tests/gradient_check.h"
#include "tests/random_values.h"

namespace weft::autograd::jitter_gradient_test {
namespace {

TEST(Jitter, gradient) {
  tests::check_gradient(
      "jitter",
      [](const Pass& pass, const std::vector<Var>& in) { return jitter(pass, in[0], 0.5); },
      {tests::random_tensor({6, 9}, 1)});
}

}  // namespace
}  // namespace weft::autograd::jitter_gradient_test
