#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"

namespace weft::autograd::linear_part_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(LinearPartGradient, agrees_with_differences) {
  const Tensor x = random_tensor({6, 4}, 1);
  for (const Index first : {0, 3}) {
    Parameter weight({8, 4}, Init::zeros()), bias({8}, Init::zeros());
    check_gradient("linear_part",
                   [&](const Pass& pass, const Inputs&) {
                     return linear_part(pass, x, weight, bias, first, 5);
                   },
                   {}, {&weight, &bias});
  }
}

TEST(LinearPart, is_the_columns_of_the_whole_layer) {
  Parameter weight({8, 4}, Init::zeros()), bias({8}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &bias});
  const Tensor x = random_tensor({6, 4}, 1);
  const Tensor whole = slice(linear(Var(x), weight, &bias), 3, 4).value();
  tests::expect_close(linear_part(Pass(), x, weight, bias, 3, 4).value().read(),
                      tests::in_double(whole.read()), 10 * tests::epsilon);
}

}  // namespace
}  // namespace weft::autograd::linear_part_gradient_test
