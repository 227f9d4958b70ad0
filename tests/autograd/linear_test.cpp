#include "autograd/column_copy.h"
#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::linear_test {
namespace {

using tests::expect_close;
using tests::random_tensor;
using Inputs = std::vector<Var>;

/// y = x weight^T + bias and its gradients by plain loops.
struct Naive {
  std::vector<double> y, dx, dweight, dbias;

  Naive(const Tensor& x, const Parameter& weight, const Parameter* bias, const Tensor& dy)
      : dx(x.read().size(), 0.0),
        dweight(std::size_t(weight.shape().size()), 0.0),
        dbias(std::size_t(weight.shape()[0]), 0.0) {
    const Index out = weight.shape()[0], in = weight.shape()[1];
    for (Index r = 0; r < x.shape().rows(); ++r)
      for (Index o = 0; o < out; ++o) {
        double sum = bias ? bias->data()[o] : 0;
        const double d = dy.data()[r * out + o];
        for (Index i = 0; i < in; ++i) {
          sum += double(x.data()[r * in + i]) * weight.data()[o * in + i];
          dx[std::size_t(r * in + i)] += d * weight.data()[o * in + i];
          dweight[std::size_t(o * in + i)] += d * x.data()[r * in + i];
        }
        y.push_back(sum);
        dbias[std::size_t(o)] += d;
      }
    if (!bias) dbias.assign(dbias.size(), 0.0);
  }
};

const std::vector<std::pair<Shape, Index>> cases{
    {Shape{5}, 3},      {Shape{1, 1}, 1},     {Shape{1, 17}, 9},     {Shape{7, 5}, 11},
    {Shape{256, 7}, 9}, {Shape{257, 20}, 33}, {Shape{3, 200, 6}, 5}, {Shape{1100, 64}, 48}};

TEST(Linear, equals_plain_loops) {
  for (const auto& [shape, out] : cases)
    for (const bool with_bias : {false, true}) {
      Parameter weight({out, shape.back()}, Init::zeros()), bias({out}, Init::zeros());
      const tests::DrawnParameters drawn({&weight, &bias});
      const Parameter* used = with_bias ? &bias : nullptr;
      const Tensor x = random_tensor(shape, 1);
      const auto pulled = tests::pull_back(
          [&](const Pass&, const Inputs& in) { return linear(in[0], weight, used); }, {x});
      EXPECT_EQ(pulled.value.shape(), with_columns(shape, out));
      const Naive expected(x, weight, used, pulled.upstream);
      expect_close(pulled.value.read(), expected.y, 1e-5);
      expect_close(pulled.gradients[0].read(), expected.dx, 1e-5);
      expect_close(weight.gradient(), expected.dweight, 1e-4);
      expect_close(bias.gradient(), expected.dbias, 2e-5);
    }
}

TEST(LinearOnto, equals_plain_loops_on_top_of_the_residual) {
  for (const auto& [shape, out] : cases)
    for (const bool with_bias : {false, true}) {
      Parameter weight({out, shape.back()}, Init::zeros()), bias({out}, Init::zeros());
      const tests::DrawnParameters drawn({&weight, &bias});
      const Parameter* used = with_bias ? &bias : nullptr;
      const Tensor x = random_tensor(shape, 1),
                   residual = random_tensor(with_columns(shape, out), 2);
      const auto pulled = tests::pull_back(
          [&](const Pass&, const Inputs& in) { return linear_onto(in[0], in[1], weight, used); },
          {residual, x});
      Naive expected(x, weight, used, pulled.upstream);
      for (std::size_t i = 0; i < expected.y.size(); ++i) expected.y[i] += residual.read()[i];
      expect_close(pulled.value.read(), expected.y, 1e-5);
      EXPECT_TRUE(tests::same_bits(pulled.gradients[0].read(), pulled.upstream.read()));
      expect_close(pulled.gradients[1].read(), expected.dx, 1e-5);
      expect_close(weight.gradient(), expected.dweight, 1e-4);
      expect_close(bias.gradient(), expected.dbias, 2e-5);
    }
}

TEST(Linear, takes_no_rows) {
  Parameter weight({3, 4}, Init::zeros()), bias({3}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &bias});
  EXPECT_EQ(linear(Var(Tensor({0, 4})), weight, &bias).shape(), (Shape{0, 3}));
}

TEST(Linear, does_not_train_a_parameter_lent_for_inference) {
  Parameter weight({3, 4}, Init::normal(1)), bias({3}, Init::normal(1));
  Inventory inventory;
  inventory.add("weight", weight);
  inventory.add("bias", bias);
  ParameterArena arena(inventory, ParameterArena::Use::inference);
  arena.initialise(core::Rng(1));
  const auto pulled =
      tests::pull_back([&](const Pass&, const Inputs& in) { return linear(in[0], weight, &bias); },
                       {random_tensor({2, 4}, 1)});
  const Naive expected(random_tensor({2, 4}, 1), weight, &bias, pulled.upstream);
  expect_close(pulled.gradients[0].read(), expected.dx, 1e-5);
}

TEST(Linear, refuses_shapes_that_do_not_fit) {
  Parameter weight({3, 4}, Init::zeros()), vector({4}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &vector});
  EXPECT_THROW(linear(Var(Tensor({2, 3}, 1)), weight), core::Error);
  EXPECT_THROW(linear(Var(Tensor({2, 4}, 1)), weight, &vector), core::Error);
  EXPECT_THROW(linear(Var(Tensor({2, 4}, 1)), vector), core::Error);
  EXPECT_THROW(linear(Var(Tensor({}, 1)), weight), core::Error);
  EXPECT_THROW(linear_onto(Var(Tensor({2, 4}, 1)), Var(Tensor({2, 4}, 1)), weight), core::Error);
}

}  // namespace
}  // namespace weft::autograd::linear_test
