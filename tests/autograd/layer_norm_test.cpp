#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::layer_norm_test {
namespace {

using tests::expect_close;
using tests::random_tensor;

/// One row's (x - mean) / deviation, and 1 / deviation behind it.
std::vector<double> normalised(const Real* x, std::size_t n, double eps) {
  double mean = 0, variance = 0;
  for (std::size_t j = 0; j < n; ++j) mean += x[j] / double(n);
  for (std::size_t j = 0; j < n; ++j) variance += (x[j] - mean) * (x[j] - mean) / double(n);
  std::vector<double> h;
  const double inverse = 1 / std::sqrt(variance + eps);
  for (std::size_t j = 0; j < n; ++j) h.push_back((x[j] - mean) * inverse);
  h.push_back(inverse);
  return h;
}

void compare(const Tensor& x, double tolerance) {
  const auto n = std::size_t(x.shape().back());
  const Real eps = Real(1e-3);
  Parameter gain({Index(n)}, Init::ones()), bias({Index(n)}, Init::zeros());
  const tests::DrawnParameters drawn({&gain, &bias});
  const auto pulled = tests::pull_back(
      [&](const Pass&, const std::vector<Var>& in) { return layer_norm(in[0], gain, bias, eps); },
      {x});
  std::vector<double> y, dx, dgain(n, 0.0), dbias(n, 0.0);
  for (std::size_t r = 0; r < x.read().size() / n; ++r) {
    const auto h = normalised(x.data() + r * n, n, eps);
    const Real* dy = pulled.upstream.data() + r * n;
    double mean_g = 0, mean_gh = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double g = double(dy[j]) * gain.data()[j];
      mean_g += g / double(n);
      mean_gh += g * h[j] / double(n);
      dgain[j] += dy[j] * h[j];
      dbias[j] += dy[j];
      y.push_back(h[j] * gain.data()[j] + bias.data()[j]);
    }
    for (std::size_t j = 0; j < n; ++j)
      dx.push_back(h[n] * (double(dy[j]) * gain.data()[j] - mean_g - h[j] * mean_gh));
  }
  expect_close(pulled.value.read(), y, tolerance);
  expect_close(pulled.gradients[0].read(), dx, 10 * tolerance);
  expect_close(gain.gradient(), dgain, 10 * tolerance);
  expect_close(bias.gradient(), dbias, 1e-5);
}

TEST(LayerNorm, equals_the_naive_formula_and_its_derivative) {
  for (const Shape& shape :
       {Shape{9}, Shape{1, 17}, Shape{2, 3, 11}, Shape{7, 64}, Shape{600, 130}})
    compare(random_tensor(shape, 1), 3e-6);
}

TEST(LayerNorm, survives_a_large_common_offset) {
  Tensor x = random_tensor({5, 256}, 1);
  for (Real& v : x.write()) v += 4096;
  compare(x, 5e-3);
}

TEST(LayerNorm, gives_the_bias_for_constant_rows) {
  Parameter gain({4}, Init::ones()), bias({4}, Init::zeros());
  const tests::DrawnParameters drawn({&gain, &bias});
  const Var y = layer_norm(Var(Tensor({3, 4}, 7)), gain, bias, Real(1e-5));
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(y.value().read()[i], bias.data()[i % 4]);
}

TEST(LayerNorm, refuses_gains_of_another_width) {
  Parameter gain({4}, Init::ones()), bias({3}, Init::zeros());
  const tests::DrawnParameters drawn({&gain, &bias});
  EXPECT_THROW(layer_norm(Var(Tensor({2, 4}, 1)), gain, bias, Real(1e-5)), core::Error);
  EXPECT_THROW(layer_norm(Var(Tensor({2, 3}, 1)), gain, bias, Real(1e-5)), core::Error);
  EXPECT_THROW(layer_norm(Var(Tensor({}, 1)), gain, bias, Real(1e-5)), core::Error);
}

}  // namespace
}  // namespace weft::autograd::layer_norm_test
