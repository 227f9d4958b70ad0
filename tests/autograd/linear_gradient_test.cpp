#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::linear_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

/// Odd sizes, one row, rank 1 and 3, and rows enough for several panels.
const std::vector<std::pair<Shape, Index>> cases{
    {Shape{5}, 3},       {Shape{1, 1}, 1},   {Shape{1, 17}, 9},     {Shape{7, 5}, 11},
    {Shape{2, 3, 4}, 5}, {Shape{300, 7}, 9}, {Shape{3, 200, 6}, 5}, {Shape{520, 70}, 130}};

TEST(LinearGradient, agrees_with_differences) {
  for (const auto& [shape, out] : cases) {
    Parameter weight({out, shape.back()}, Init::zeros()), bias({out}, Init::zeros());
    check_gradient("linear", [&](const Pass&, const Inputs& x) { return linear(x[0], weight); },
                   {random_tensor(shape, 1)}, {&weight});
    check_gradient("linear",
                   [&](const Pass&, const Inputs& x) { return linear(x[0], weight, &bias); },
                   {random_tensor(shape, 1)}, {&weight, &bias});
  }
}

TEST(LinearGradient, adds_up_over_the_uses_of_one_weight) {
  Parameter weight({4, 4}, Init::zeros()), bias({4}, Init::zeros());
  check_gradient("linear",
                 [&](const Pass&, const Inputs& x) {
                   return linear(linear(x[0], weight, &bias), weight, &bias);
                 },
                 {random_tensor({3, 4}, 1)}, {&weight, &bias});
}

TEST(LinearOntoGradient, agrees_with_differences) {
  for (const auto& [shape, out] : cases) {
    Parameter weight({out, shape.back()}, Init::zeros()), bias({out}, Init::zeros());
    const std::vector<Tensor> inputs{random_tensor(with_columns(shape, out), 2),
                                     random_tensor(shape, 1)};
    check_gradient("linear_onto",
                   [&](const Pass&, const Inputs& x) { return linear_onto(x[0], x[1], weight); },
                   inputs, {&weight});
    check_gradient(
        "linear_onto",
        [&](const Pass&, const Inputs& x) { return linear_onto(x[0], x[1], weight, &bias); },
        inputs, {&weight, &bias});
  }
}

TEST(LinearOntoGradient, agrees_when_the_residual_is_the_input_or_a_constant) {
  Parameter weight({6, 6}, Init::zeros());
  const Var constant(random_tensor({5, 6}, 2));
  check_gradient("linear_onto",
                 [&](const Pass&, const Inputs& x) { return linear_onto(x[0], x[0], weight); },
                 {random_tensor({5, 6}, 1)}, {&weight});
  check_gradient("linear_onto",
                 [&](const Pass&, const Inputs& x) { return linear_onto(constant, x[0], weight); },
                 {random_tensor({5, 6}, 1)}, {&weight});
  check_gradient("linear_onto",
                 [&](const Pass&, const Inputs& x) { return linear_onto(x[0], constant, weight); },
                 {random_tensor({5, 6}, 1)}, {&weight});
}

}  // namespace
}  // namespace weft::autograd::linear_gradient_test
