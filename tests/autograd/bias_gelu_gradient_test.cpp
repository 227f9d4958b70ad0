#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::bias_gelu_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;

TEST(BiasGeluGradient, agrees_with_differences) {
  for (const Shape& shape :
       {Shape{1}, Shape{9}, Shape{1, 17}, Shape{7, 5}, Shape{2, 3, 11}, Shape{600, 130}}) {
    Parameter bias({shape.back()}, Init::zeros());
    check_gradient("bias_gelu",
                   [&](const Pass&, const std::vector<Var>& x) { return bias_gelu(x[0], bias); },
                   {random_tensor(shape, 1, 2)}, {&bias});
  }
}

TEST(BiasGeluGradient, leaves_the_gradient_of_another_reader_alone) {
  Parameter bias({6}, Init::zeros());
  check_gradient(
      "bias_gelu",
      [&](const Pass&, const std::vector<Var>& x) { return add(bias_gelu(x[0], bias), x[0]); },
      {random_tensor({4, 6}, 1)}, {&bias});
}

}  // namespace
}  // namespace weft::autograd::bias_gelu_gradient_test
