#include "autograd/ops.h"
#include "tests/pull_back.h"

namespace weft::autograd::relu_test {
namespace {

using tests::random_tensor;

TEST(Relu, keeps_what_is_positive_and_its_gradient) {
  for (const Shape& shape : {Shape{1}, Shape{2, 3, 5}, Shape{300, 131}}) {
    Tensor x = random_tensor(shape, 1);
    x.write()[0] = 0;
    const auto pulled =
        tests::pull_back([](const Pass&, const std::vector<Var>& in) { return relu(in[0]); }, {x});
    for (std::size_t i = 0; i < x.read().size(); ++i) {
      const bool positive = x.read()[i] > 0;
      ASSERT_EQ(pulled.value.read()[i], positive ? x.read()[i] : 0);
      ASSERT_EQ(pulled.gradients[0].read()[i], positive ? pulled.upstream.read()[i] : 0);
    }
  }
}

}  // namespace
}  // namespace weft::autograd::relu_test
