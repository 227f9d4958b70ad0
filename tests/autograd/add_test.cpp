#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::add_test {
namespace {

using tests::pull_back;
using tests::random_tensor;
using tests::same_bits;

TEST(Add, adds_element_by_element_and_hands_its_gradient_to_both) {
  for (const Shape& shape : {Shape{1}, Shape{2, 3, 5}, Shape{300, 131}}) {
    const Tensor x = random_tensor(shape, 1), y = random_tensor(shape, 2);
    const auto pulled = pull_back(
        [](const Pass&, const std::vector<Var>& in) { return add(in[0], in[1]); }, {x, y});
    for (std::size_t i = 0; i < x.read().size(); ++i)
      ASSERT_EQ(pulled.value.read()[i], x.read()[i] + y.read()[i]);
    EXPECT_TRUE(same_bits(pulled.gradients[0].read(), pulled.upstream.read()));
    EXPECT_TRUE(same_bits(pulled.gradients[1].read(), pulled.upstream.read()));
  }
}

TEST(Add, refuses_other_shapes) {
  EXPECT_THROW(add(Var(Tensor({2, 3}, 1)), Var(Tensor({3, 2}, 1))), core::Error);
}

}  // namespace
}  // namespace weft::autograd::add_test
