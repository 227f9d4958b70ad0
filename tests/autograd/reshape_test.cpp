#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::reshape_test {
namespace {

using tests::random_tensor;

TEST(Reshape, keeps_elements_in_place_and_turns_the_gradient_back) {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  const auto pulled = tests::pull_back(
      [](const Pass&, const std::vector<Var>& in) {
        return reshape(in[0], {6, 4});
      },
      {x});
  EXPECT_EQ(pulled.value.shape(), (Shape{6, 4}));
  EXPECT_EQ(pulled.value.data(), x.data());
  EXPECT_EQ(pulled.gradients[0].shape(), x.shape());
  EXPECT_TRUE(tests::same_bits(pulled.gradients[0].read(), pulled.upstream.read()));
}

TEST(Reshape, refuses_another_number_of_elements) {
  EXPECT_THROW(reshape(Var(Tensor({2, 3}, 1)), {7}), core::Error);
}

}  // namespace
}  // namespace weft::autograd::reshape_test
