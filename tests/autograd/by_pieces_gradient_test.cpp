#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::by_pieces_gradient_test {
namespace {

TEST(ByPiecesGradient, agrees_with_differences) {
  for (const Index rows : {1, 4, 5, 13, 20}) {
    Parameter in({6, 5}, Init::zeros()), bias({6}, Init::zeros()), out({3, 6}, Init::zeros());
    const auto part = [&](const Pass& pass, const Var& x) {
      return dropout(pass, linear(bias_gelu(linear(x, in), bias), out), Real(0.3));
    };
    tests::check_gradient("by_pieces",
                          [&](const Pass& pass, const std::vector<Var>& x) {
                            return by_pieces(pass, part, x[0], rows);
                          },
                          {tests::random_tensor({13, 5}, 1)}, {&in, &bias, &out});
  }
}

}  // namespace
}  // namespace weft::autograd::by_pieces_gradient_test
