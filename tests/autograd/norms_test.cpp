// What layer, root-mean-square and batch normalisation have in common and what tells them apart.
#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/random_values.h"

namespace weft::autograd::norms_test {
namespace {

using tests::expect_close;
using tests::in_double;
using tests::random_tensor;

constexpr Real eps = Real(1e-5);

/// Gain 1 and bias 0 for any width.
struct Plain {
  explicit Plain(Index width) : gain({width}, Init::ones()), bias({width}, Init::zeros()) {
    drawn.arena().initialise(core::Rng(1));
  }
  Parameter gain, bias;
  tests::DrawnParameters drawn{{&gain, &bias}};
};

Tensor mapped(const Tensor& x, Real factor, Real shift) {
  Tensor y(x.shape());
  for (std::size_t i = 0; i < y.read().size(); ++i) y.write()[i] = factor * x.read()[i] + shift;
  return y;
}

Tensor transposed(const Tensor& x) {
  const Index rows = x.shape()[0], columns = x.shape()[1];
  Tensor y({columns, rows});
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      y.write()[std::size_t(c * rows + r)] = x.read()[std::size_t(r * columns + c)];
  return y;
}

TEST(Norms, layer_norm_ignores_a_rows_shift_and_positive_scale) {
  const Plain p(40);
  const Tensor x = random_tensor({9, 40}, 1);
  const auto y = in_double(layer_norm(Var(x), p.gain, p.bias, eps).value().read());
  for (const auto& [factor, shift] : {std::pair{1.0, 3.0}, {7.0, 0.0}, {0.5, -2.0}})
    expect_close(
        layer_norm(Var(mapped(x, Real(factor), Real(shift))), p.gain, p.bias, eps).value().read(),
        y, 1e-4);
}

TEST(Norms, rms_norm_ignores_a_rows_positive_scale_but_not_its_shift) {
  const Plain p(40);
  const Tensor x = random_tensor({9, 40}, 1);
  const Tensor y = rms_norm(Var(x), p.gain, eps).value();
  expect_close(rms_norm(Var(mapped(x, 7, 0)), p.gain, eps).value().read(), in_double(y.read()),
               1e-4);
  const Tensor shifted = rms_norm(Var(mapped(x, 1, 3)), p.gain, eps).value();
  EXPECT_GT(std::abs(shifted.read()[0] - y.read()[0]), 0.1);
}

TEST(Norms, rms_norm_divides_by_the_root_mean_square) {
  for (const Shape& shape : {Shape{9}, Shape{1, 17}, Shape{2, 3, 11}, Shape{600, 130}}) {
    Parameter gain({shape.back()}, Init::ones());
    const tests::DrawnParameters drawn({&gain});
    const Tensor x = random_tensor(shape, 1);
    std::vector<double> expected;
    const auto n = std::size_t(shape.back());
    for (std::size_t i = 0; i < x.read().size(); ++i) {
      double squares = 0;
      for (std::size_t j = i / n * n; j < i / n * n + n; ++j)
        squares += double(x.read()[j]) * x.read()[j];
      expected.push_back(x.read()[i] / std::sqrt(squares / double(n) + eps) * gain.data()[i % n]);
    }
    expect_close(rms_norm(Var(x), gain, eps).value().read(), expected, 3e-6);
  }
}

TEST(Norms, batch_norm_is_layer_norm_of_the_transposed_matrix) {
  const Plain across(30), along(70);
  const Tensor x = random_tensor({70, 30}, 1);
  const Tensor by_layer = layer_norm(Var(transposed(x)), along.gain, along.bias, eps).value();
  const Tensor by_batch =
      batch_norm(Var(x), across.gain, across.bias, eps, column_moments(x)).value();
  expect_close(by_batch.read(), in_double(transposed(by_layer).read()), 1e-5);
}

TEST(Norms, column_moments_take_two_passes_and_survive_an_offset) {
  const Tensor x = random_tensor({5000, 3}, 1), far = mapped(x, 1, 1000);
  const Tensor near = column_moments(x), moved = column_moments(far);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(near.read()[c], 0, 0.1);
    EXPECT_NEAR(moved.read()[c], 1000 + near.read()[c], 1e-2);
    EXPECT_NEAR(near.read()[3 + c], 1, 0.1);
    EXPECT_NEAR(moved.read()[3 + c], near.read()[3 + c], 1e-3);
  }
}

TEST(Norms, a_batch_of_one_row_becomes_the_bias) {
  Parameter gain({4}, Init::ones()), bias({4}, Init::zeros());
  const tests::DrawnParameters drawn({&gain, &bias});
  const Tensor x = random_tensor({1, 4}, 1);
  expect_close(batch_norm(Var(x), gain, bias, eps, column_moments(x)).value().read(),
               in_double(bias.value().read()), 1e-6);
}

TEST(Norms, refuse_parameters_of_another_width) {
  const Plain p(3);
  const Var x(Tensor({2, 4}, 1));
  EXPECT_THROW(rms_norm(x, p.gain, eps), core::Error);
  EXPECT_THROW(batch_norm(x, p.gain, p.bias, eps, column_moments(x.value())), core::Error);
  EXPECT_THROW(frozen_norm(x, p.gain, p.bias, eps, column_moments(x.value())), core::Error);
}

}  // namespace
}  // namespace weft::autograd::norms_test
