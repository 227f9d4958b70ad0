#include "layers/feed_forward.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/naive_model.h"

namespace weft::layers {
namespace {

constexpr double tolerance = 600 * tests::epsilon;

TEST(FeedForward, is_two_products_with_an_exact_gelu_between) {
  for (const auto& [width, hidden, rows] : {std::tuple{1, 1, 1}, {6, 11, 5}, {64, 256, 300}}) {
    FeedForward part(width, hidden, Init::zeros(), Init::zeros());
    const DrawnWeights drawn(part);
    const Tensor x = tests::random_tensor({rows, width}, 1),
                 r = tests::random_tensor({rows, width}, 2);
    const Grid expected = naive_feed_forward(drawn.weights(), "", Grid(x));
    tests::expect_close(part.forward(Var(x)).value().read(), expected.numbers, tolerance);
    tests::expect_close(part.onto(Var(r), Var(x)).value().read(),
                        naive_sum(Grid(r), expected).numbers, tolerance);
    EXPECT_EQ(part.weights(), 2 * width * hidden);
  }
}

TEST(FeedForward, passes_gradients) {
  FeedForward part(7, 13, Init::zeros(), Init::zeros());
  DrawnWeights drawn(part);
  const std::vector<Tensor> inputs{tests::random_tensor({9, 7}, 1),
                                   tests::random_tensor({9, 7}, 2)};
  tests::check_gradient(
      "feed_forward",
      [&](const Pass&, const std::vector<Var>& in) {
        return autograd::add(part.forward(in[0]), part.onto(in[0], in[1]));
      },
      inputs, drawn.arena());
}

}  // namespace
}  // namespace weft::layers
