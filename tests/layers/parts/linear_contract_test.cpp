#include "layers/parts/linear.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::linear_contract_test {
namespace {

TEST(Linear, is_a_product_with_a_bias) {
  for (const auto& [in, out, rows] : {std::tuple{1, 1, 1}, {6, 11, 5}, {64, 100, 600}}) {
    Linear part(in, out, Init::zeros());
    const DrawnWeights drawn(part);
    const Weights w = drawn.weights();
    const Tensor x = tests::random_tensor({rows, in}, 1), r = tests::random_tensor({rows, out}, 2);
    const Grid expected = naive_linear(Grid(x), w.at("weight"), w.at("bias"));
    constexpr double tolerance = 200 * tests::epsilon;
    tests::expect_close(part.forward(Var(x)).value().read(), expected.numbers, tolerance);
    tests::expect_close(part.onto(Var(r), Var(x)).value().read(),
                        naive_sum(Grid(r), expected).numbers, tolerance);
    tests::expect_close(part.product(Var(x)).value().read(),
                        naive_linear(Grid(x), w.at("weight"), Grid(0, 0)).numbers, tolerance);
    EXPECT_EQ(part.weights(), in * out);
  }
}

TEST(Linear, passes_gradients) {
  Linear part(6, 6, Init::zeros());
  DrawnWeights drawn(part);
  const std::vector<Tensor> inputs{tests::random_tensor({9, 6}, 1),
                                   tests::random_tensor({9, 6}, 2)};
  tests::check_gradient(
      "linear_layer",
      [&](const Pass&, const std::vector<Var>& in) {
        return part.onto(part.product(in[0]), part.forward(in[1]));
      },
      inputs, drawn.arena());
}

}  // namespace
}  // namespace weft::layers::linear_contract_test
