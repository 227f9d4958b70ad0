#include "autograd/ops.h"
#include "tests/pull_back.h"

namespace weft::autograd::scale_test {
namespace {

using tests::random_tensor;

TEST(Scale, multiplies_values_and_gradients) {
  for (const Shape& shape : {Shape{1}, Shape{2, 3, 5}, Shape{300, 131}}) {
    const Tensor x = random_tensor(shape, 1);
    const Real factor = Real(-0.3);
    const auto pulled = tests::pull_back(
        [&](const Pass&, const std::vector<Var>& in) { return scale(in[0], factor); }, {x});
    for (std::size_t i = 0; i < x.read().size(); ++i) {
      ASSERT_EQ(pulled.value.read()[i], factor * x.read()[i]);
      ASSERT_EQ(pulled.gradients[0].read()[i], factor * pulled.upstream.read()[i]);
    }
  }
}

}  // namespace
}  // namespace weft::autograd::scale_test
