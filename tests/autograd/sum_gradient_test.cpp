#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::sum_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;

TEST(SumGradient, agrees_with_differences) {
  for (const Shape& shape : {Shape{1}, Shape{7, 5}, Shape{2, 3, 11}, Shape{300, 131}})
    check_gradient("sum", [](const Pass&, const std::vector<Var>& x) { return sum(x[0]); },
                   {random_tensor(shape, 1)});
}

}  // namespace
}  // namespace weft::autograd::sum_gradient_test
