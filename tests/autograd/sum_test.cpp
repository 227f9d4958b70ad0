#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::sum_test {
namespace {

using tests::random_tensor;

TEST(Sum, adds_all_elements_and_spreads_its_gradient) {
  for (const Shape& shape : {Shape{1}, Shape{2, 3, 5}, Shape{300, 131}}) {
    const Tensor x = random_tensor(shape, 1);
    const auto pulled =
        tests::pull_back([](const Pass&, const std::vector<Var>& in) { return sum(in[0]); }, {x});
    double expected = 0;
    for (const Real v : x.read()) expected += v;
    EXPECT_EQ(pulled.value.shape(), Shape{1});
    tests::expect_close(pulled.value.read(), {expected}, 1e-4);
    for (const Real v : pulled.gradients[0].read()) ASSERT_EQ(v, core::scalar(pulled.upstream));
  }
}

}  // namespace
}  // namespace weft::autograd::sum_test
