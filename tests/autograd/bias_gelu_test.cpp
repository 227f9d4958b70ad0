#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::bias_gelu_test {
namespace {

using tests::expect_close;
using tests::random_tensor;

TEST(BiasGelu, equals_the_exact_formula_and_its_derivative) {
  for (const Shape& shape : {Shape{1}, Shape{9}, Shape{2, 3, 11}, Shape{600, 130}}) {
    const Index n = shape.back();
    Parameter bias({n}, Init::zeros());
    const tests::DrawnParameters drawn({&bias});
    const Tensor x = random_tensor(shape, 1, 2);
    const auto pulled = tests::pull_back(
        [&](const Pass&, const std::vector<Var>& in) { return bias_gelu(in[0], bias); }, {x});
    std::vector<double> y, dx, dbias(std::size_t(n), 0.0);
    for (std::size_t i = 0; i < x.read().size(); ++i) {
      const std::size_t column = i % std::size_t(n);
      const double z = double(x.read()[i]) + bias.value().read()[column];
      const double below = 0.5 * (1 + std::erf(z / std::sqrt(2.0)));
      const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
      y.push_back(z * below);
      dx.push_back(pulled.upstream.read()[i] * (below + z * density));
      dbias[column] += dx.back();
    }
    expect_close(pulled.value.read(), y, 2e-6);
    expect_close(pulled.gradients[0].read(), dx, 2e-6);
    expect_close(bias.gradient(), dbias, 2e-5);
  }
}

TEST(BiasGelu, refuses_a_bias_of_another_width) {
  Parameter bias({4}, Init::zeros());
  const tests::DrawnParameters drawn({&bias});
  EXPECT_THROW(bias_gelu(Var(Tensor({2, 3}, 1)), bias), core::Error);
}

}  // namespace
}  // namespace weft::autograd::bias_gelu_test
