#include "core/error.h"
#include "layers/parts/activation.h"
#include "layers/parts/feed_forward.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::activation_contract_test {
namespace {

using core::Shape;

TEST(Activation, gelu_tanh_is_the_published_formula) {
  for (const Shape& shape : {Shape{1}, Shape{9}, Shape{2, 3, 11}, Shape{600, 130}}) {
    const Index n = shape.back();
    Parameter bias({n}, Init::zeros());
    const tests::DrawnParameters drawn({&bias});
    const Tensor x = tests::random_tensor(shape, 1, 2);
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.read().size(); ++i) {
      const double z = double(x.read()[i]) + bias.value().read()[i % std::size_t(n)];
      expected.push_back(0.5 * z *
                         (1 + std::tanh(std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z))));
    }
    tests::expect_close(bias_gelu_tanh(Var(x), bias).value().read(), expected, 20 * tests::epsilon);
  }
}

TEST(Activation, gelu_tanh_is_the_identity_far_right_and_zero_far_left) {
  Parameter bias({4}, Init::zeros());
  tests::DrawnParameters drawn({&bias});
  std::ranges::fill(drawn.arena().values(), Real(0));
  Tensor x({1, 4});
  const Real far[] = {-1e6, -30, 30, 1e6};
  std::ranges::copy(far, x.write().begin());
  autograd::Tape tape;
  const Var in = tape.watch(x), y = bias_gelu_tanh(in, bias);
  const Real expected[] = {0, 0, 30, 1e6}, slopes[] = {0, 0, 1, 1};
  tape.sweep(y, Tensor(y.shape(), 1));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(y.value().read()[i], expected[i]) << far[i];
    EXPECT_EQ(tape.gradient(in).read()[i], slopes[i]) << far[i];
  }
}

TEST(Activation, gelu_tanh_refuses_a_bias_of_another_width) {
  Parameter bias({4}, Init::zeros());
  const tests::DrawnParameters drawn({&bias});
  EXPECT_THROW(bias_gelu_tanh(Var(Tensor({2, 3}, 1)), bias), core::Error);
}

TEST(Activation, passes_gradients) {
  for (const Shape& shape : {Shape{1}, Shape{9}, Shape{7, 5}, Shape{2, 3, 11}, Shape{600, 130}}) {
    Parameter bias({shape.back()}, Init::zeros());
    tests::check_gradient(
        "bias_gelu_tanh",
        [&](const Pass&, const std::vector<Var>& x) { return bias_gelu_tanh(x[0], bias); },
        {tests::random_tensor(shape, 1, 2)}, {&bias});
  }
}

TEST(Activation, a_feed_forward_has_the_chosen_one) {
  constexpr Index width = 6, hidden = 11, rows = 5;
  const auto result = [&](Activation activation) {
    DenseFeedForward part(width, hidden, Init::zeros(), Init::zeros(), 0, activation);
    const DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({rows, width}, 1);
    const Tensor all = part.forward(Pass(), Var(x), {}).value();
    for (Index r = 0; r < rows; ++r) {  // a token alone has the bits that it has among others
      const Tensor one = part.step(x.rows(r, 1));
      for (std::size_t i = 0; i < std::size_t(width); ++i)
        EXPECT_NEAR(one.read()[i], all.read()[std::size_t(r * width) + i], 100 * tests::epsilon);
    }
    return all;
  };
  const Tensor gelu = result(Activation::gelu), tanh = result(Activation::gelu_tanh),
               relu = result(Activation::relu);
  double apart = 0, far = 0;
  for (std::size_t i = 0; i < gelu.read().size(); ++i) {
    apart = std::max(apart, std::abs(double(gelu.read()[i]) - tanh.read()[i]));
    far = std::max(far, std::abs(double(gelu.read()[i]) - relu.read()[i]));
  }
  EXPECT_GT(apart, 1e-5);
  EXPECT_LT(apart, 1e-2);
  EXPECT_GT(far, 1e-2);
}

}  // namespace
}  // namespace weft::layers::activation_contract_test
