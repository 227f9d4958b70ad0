#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::scale_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;

TEST(ScaleGradient, agrees_with_differences) {
  for (const Real factor : {Real(-2.5), Real(1), Real(1e-3)})
    for (const Shape& shape : {Shape{1}, Shape{7, 5}, Shape{2, 3, 11}, Shape{300, 131}})
      check_gradient("scale",
                     [&](const Pass&, const std::vector<Var>& x) { return scale(x[0], factor); },
                     {random_tensor(shape, 1)});
}

}  // namespace
}  // namespace weft::autograd::scale_gradient_test
