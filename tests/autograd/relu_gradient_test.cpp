#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::relu_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;

/// No number so near the kink that a difference would step across it.
Tensor away_from_zero(const Shape& shape) {
  Tensor x = random_tensor(shape, 1);
  for (Real& v : x.write()) v += v < 0 ? Real(-0.1) : Real(0.1);
  return x;
}

TEST(ReluGradient, agrees_with_differences) {
  for (const Shape& shape : {Shape{13}, Shape{1, 9}, Shape{2, 3, 11}, Shape{300, 131}})
    check_gradient("relu", [](const Pass&, const std::vector<Var>& x) { return relu(x[0]); },
                   {away_from_zero(shape)});
}

TEST(ReluGradient, leaves_the_gradient_of_another_reader_alone) {
  check_gradient("relu",
                 [](const Pass&, const std::vector<Var>& x) { return add(relu(x[0]), x[0]); },
                 {away_from_zero({7, 9})});
}

}  // namespace
}  // namespace weft::autograd::relu_gradient_test
