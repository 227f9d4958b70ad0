#include "autograd/ops.h"
#include "tests/gradient_check.h"
#include "tests/random_values.h"

namespace weft::autograd::softmax_gradient_test {
namespace {

TEST(Softmax, gradient) {
  for (const Index n : {1, 2, 7, 40}) {
    // Constant over a single column: the other input keeps the check from being empty.
    tests::check_gradient("softmax",
                          [](const Pass&, const std::vector<Var>& in) {
                            return autograd::add(softmax(in[0]), in[1]);
                          },
                          {tests::random_tensor({5, n}, 1), tests::random_tensor({5, n}, 2)});
  }
}

}  // namespace
}  // namespace weft::autograd::softmax_gradient_test
