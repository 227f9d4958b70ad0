#include "layers/norm.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/naive_model.h"

namespace weft::layers {
namespace {

TEST(Norm, is_layer_norm_with_gain_and_bias) {
  for (const Index width : {1, 7, 64}) {
    Norm norm(width);
    const DrawnWeights drawn(norm);
    const Tensor x = tests::random_tensor({50, width}, 1);
    const Weights w = drawn.weights();
    tests::expect_close(norm.forward(Var(x)).value().read(),
                        naive_norm(Grid(x), w.at("weight"), w.at("bias")).numbers,
                        200 * tests::epsilon);
  }
}

TEST(Norm, passes_gradients) {
  Norm norm(7);
  DrawnWeights drawn(norm);
  tests::check_gradient(
      "norm", [&](const Pass&, const std::vector<Var>& in) { return norm.forward(in[0]); },
      {tests::random_tensor({9, 7}, 1)}, drawn.arena());
}

}  // namespace
}  // namespace weft::layers
