#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::add_multiples_gradient_test {
namespace {

TEST(AddMultiplesGradient, agrees_with_differences) {
  for (const Index width : {1, 5, 130}) {
    Parameter row({width}, Init::zeros());
    const Tensor factors = tests::random_tensor({9}, 2);
    tests::check_gradient(
        "add_multiples",
        [&](const Pass&, const std::vector<Var>& x) { return add_multiples(x[0], row, factors); },
        {tests::random_tensor({9, width}, 1)}, {&row});
  }
}

}  // namespace
}  // namespace weft::autograd::add_multiples_gradient_test
