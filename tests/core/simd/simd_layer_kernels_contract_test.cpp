// The kernels of layers and optimizers on every instruction set, against scalar loops in double.
#include <cmath>

#include "tests/closeness.h"
#include "tests/core/simd/simd_tables.h"

namespace weft::core::simd_layer_kernels_contract_test {
namespace {

using tests::epsilon;
using tests::expect_close;

class SimdLayerKernelsOf : public SimdKernelsOf {};

/// The vector erf in double is good to some 1e-14.
const double erf_tolerance = std::max(8 * epsilon, 2e-14);

double normal_distribution(double z) { return 0.5 * std::erfc(-z * std::sqrt(0.5)); }
double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI); }

TEST_P(SimdLayerKernelsOf, bias_gelu) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1, 3), bias = drawn(n, 2);
    Numbers y(x.size());
    k.bias_gelu(x.data(), bias.data(), y.data(), n);
    const auto expected = mapped(n, [&](auto i) {
      const double z = double(x[i]) + bias[i];
      return z * normal_distribution(z);
    });
    expect_close(y, expected, erf_tolerance);
  }
}

TEST_P(SimdLayerKernelsOf, bias_gelu_is_the_identity_far_right_and_zero_far_left) {
  const Numbers bias(9, 0);
  const Numbers x{-1e4, -300, -40, -15, 0, 15, 40, 300, 1e4};
  Numbers y(9), d(9, 1);
  k.bias_gelu(x.data(), bias.data(), y.data(), 9);
  k.bias_gelu_gradient(x.data(), bias.data(), d.data(), 9);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(y[i], 0, 1e-30);
    EXPECT_NEAR(d[i], 0, 1e-30);
    EXPECT_EQ(y[8 - i], x[8 - i]);
    EXPECT_EQ(d[8 - i], 1);
  }
  EXPECT_EQ(y[4], 0);
  EXPECT_EQ(d[4], Real(0.5));
}

TEST_P(SimdLayerKernelsOf, bias_gelu_gradient) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1, 3), bias = drawn(n, 2), dy = drawn(n, 3);
    Numbers d = dy;
    k.bias_gelu_gradient(x.data(), bias.data(), d.data(), n);
    const auto expected = mapped(n, [&](auto i) {
      const double z = double(x[i]) + bias[i];
      return dy[i] * (normal_distribution(z) + z * normal_density(z));
    });
    expect_close(d, expected, 2 * erf_tolerance);
  }
}

TEST_P(SimdLayerKernelsOf, relu) {
  for (const Index n : lengths()) {
    Numbers x = drawn(n, 1);
    if (n > 1) x[1] = 0;
    Numbers y(x.size()), d = drawn(n, 2);
    const Numbers dy = d;
    k.relu(x.data(), y.data(), n);
    k.relu_gradient(y.data(), d.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], x[i] > 0 ? x[i] : 0);
      ASSERT_EQ(d[i], x[i] > 0 ? dy[i] : 0);
    }
  }
}

TEST_P(SimdLayerKernelsOf, elu_plus_one) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1, 3), dy = drawn(n, 2);
    Numbers y(x.size()), d = dy;
    k.elu_plus_one(x.data(), y.data(), n);
    k.elu_plus_one_gradient(y.data(), d.data(), n);
    expect_close(y, mapped(n, [&](auto i) { return x[i] > 0 ? x[i] + 1.0 : std::exp(x[i]); }),
                 8 * epsilon);
    expect_close(d, mapped(n, [&](auto i) { return dy[i] * (x[i] > 0 ? 1 : std::exp(x[i])); }),
                 8 * epsilon);
  }
}

TEST_P(SimdLayerKernelsOf, softplus) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1, 3), dy = drawn(n, 2);
    Numbers y(x.size()), d = dy;
    k.softplus(x.data(), y.data(), n);
    k.softplus_gradient(y.data(), d.data(), n);
    expect_close(y, mapped(n, [&](auto i) { return std::log1p(std::exp(double(x[i]))); }),
                 16 * epsilon);
    expect_close(d, mapped(n, [&](auto i) { return dy[i] / (1 + std::exp(-double(x[i]))); }),
                 16 * epsilon);
  }
}

TEST_P(SimdLayerKernelsOf, logistic) {
  for (const Index n : lengths()) {
    Numbers x = drawn(n, 1, 3), y(x.size());
    if (n > 2) x[0] = -1000, x[1] = 1000;
    k.logistic(x.data(), y.data(), n);
    expect_close(y, mapped(n, [&](auto i) { return 1 / (1 + std::exp(-double(x[i]))); }),
                 8 * epsilon);
  }
}

TEST_P(SimdLayerKernelsOf, positive_maps_hold_at_the_ends_of_the_range) {
  const Numbers x{-1e30, -1e4, -300, 300, 1e4, 1e30};
  Numbers y(6), z(6);
  k.elu_plus_one(x.data(), y.data(), 6);
  k.softplus(x.data(), z.data(), 6);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(y[i], 0, 1e-30);
    EXPECT_NEAR(z[i], 0, 1e-30);
    EXPECT_EQ(y[3 + i], x[3 + i] + 1);
    EXPECT_EQ(z[3 + i], x[3 + i]);
  }
}

struct Normalised {
  std::vector<double> h;
  double mean = 0, inverse = 0;
};

Normalised normalised(const Numbers& x, double eps) {
  Normalised result;
  double variance = 0;
  for (const Real v : x) result.mean += v / double(x.size());
  for (const Real v : x) variance += (v - result.mean) * (v - result.mean) / double(x.size());
  result.inverse = 1 / std::sqrt(variance + eps);
  for (const Real v : x) result.h.push_back((v - result.mean) * result.inverse);
  return result;
}

TEST_P(SimdLayerKernelsOf, layer_norm) {
  for (const double offset : {0.0, 1e4})
    for (const Index n : lengths_from_one()) {
      Numbers x = drawn(n, 1);
      for (Real& v : x) v += Real(offset);
      const Numbers gain = drawn(n, 2), bias = drawn(n, 3);
      Numbers y(x.size());
      Real mean = 0, inverse = 0;
      const Real eps = Real(1e-2);
      k.layer_norm(x.data(), gain.data(), bias.data(), eps, y.data(), &mean, &inverse, n);
      const Normalised exact = normalised(x, eps);
      // Two passes: an offset costs the rounding of the mean, not of its square.
      const double tolerance = 8 * epsilon * (4 + 10 * offset);
      EXPECT_NEAR(mean, exact.mean, 16 * epsilon * (1 + offset));
      EXPECT_NEAR(inverse, exact.inverse, tolerance * exact.inverse);
      expect_close(y, mapped(n, [&](auto i) { return exact.h[i] * gain[i] + bias[i]; }), tolerance);
    }
}

TEST_P(SimdLayerKernelsOf, layer_norm_gradient) {
  for (const Index n : lengths_from_one()) {
    const Numbers x = drawn(n, 1), gain = drawn(n, 2), dy = drawn(n, 3);
    const Numbers dgain_before = drawn(n, 4), dbias_before = drawn(n, 5);
    const Normalised exact = normalised(x, 1e-2);
    Numbers dx(x.size()), dgain = dgain_before, dbias = dbias_before;
    k.layer_norm_gradient(x.data(), gain.data(), dy.data(), Real(exact.mean), Real(exact.inverse),
                          dx.data(), dgain.data(), dbias.data(), n);
    double mean_g = 0, mean_gh = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_g += double(dy[i]) * gain[i] / double(n);
      mean_gh += double(dy[i]) * gain[i] * exact.h[i] / double(n);
    }
    expect_close(dx,
                 mapped(n,
                        [&](auto i) {
                          return exact.inverse *
                                 (double(dy[i]) * gain[i] - mean_g - exact.h[i] * mean_gh);
                        }),
                 64 * epsilon);
    expect_close(dgain, mapped(n, [&](auto i) { return dgain_before[i] + dy[i] * exact.h[i]; }),
                 16 * epsilon);
    expect_close(dbias, mapped(n, [&](auto i) { return double(dbias_before[i]) + dy[i]; }),
                 2 * epsilon);
  }
}

TEST_P(SimdLayerKernelsOf, rms_norm_and_its_gradient) {
  const double eps = 1e-2;
  for (const Index n : lengths_from_one()) {
    const Numbers x = drawn(n, 1), gain = drawn(n, 2), dy = drawn(n, 3), before = drawn(n, 4);
    Numbers y(x.size()), dx(x.size()), dgain = before;
    Real inverse = 0;
    k.rms_norm(x.data(), gain.data(), Real(eps), y.data(), &inverse, n);
    double squares = 0, along = 0;
    for (const Real v : x) squares += double(v) * v / double(n);
    const double exact = 1 / std::sqrt(squares + eps);
    EXPECT_NEAR(inverse, exact, 16 * epsilon * exact);
    expect_close(y, mapped(n, [&](auto i) { return x[i] * exact * gain[i]; }), 16 * epsilon);
    k.rms_norm_gradient(x.data(), gain.data(), dy.data(), Real(exact), dx.data(), dgain.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i)
      along += double(dy[i]) * gain[i] * x[i] * exact / double(n);
    expect_close(
        dx,
        mapped(n, [&](auto i) { return exact * (double(dy[i]) * gain[i] - x[i] * exact * along); }),
        64 * epsilon);
    expect_close(dgain, mapped(n, [&](auto i) { return before[i] + dy[i] * x[i] * exact; }),
                 16 * epsilon);
  }
}

TEST_P(SimdLayerKernelsOf, adam) {
  AdamRule rule{};
  rule.rate = Real(0.01), rule.beta1 = Real(0.9), rule.beta2 = Real(0.99), rule.eps = Real(1e-6);
  rule.correction1 = Real(1.7), rule.correction2 = Real(3.1), rule.gradient_scale = Real(0.25);
  rule.shrink = Real(0.001), rule.decay = Real(0.05);
  for (const Index n : lengths()) {
    const Numbers gradient = drawn(n, 1), p0 = drawn(n, 2), m0 = drawn(n, 3);
    Numbers v0 = drawn(n, 4);
    for (Real& v : v0) v = std::abs(v);
    Numbers p = p0, m = m0, v = v0;
    k.adam(rule, gradient.data(), p.data(), m.data(), v.data(), n);
    const auto g = mapped(n, [&](auto i) {
      return double(gradient[i]) * rule.gradient_scale + double(p0[i]) * rule.decay;
    });
    const auto m1 = mapped(
        n, [&](auto i) { return double(m0[i]) * rule.beta1 + g[i] * (1 - double(rule.beta1)); });
    const auto v1 = mapped(n, [&](auto i) {
      return double(v0[i]) * rule.beta2 + g[i] * g[i] * (1 - double(rule.beta2));
    });
    expect_close(m, m1, 8 * epsilon);
    expect_close(v, v1, 8 * epsilon);
    expect_close(p,
                 mapped(n,
                        [&](auto i) {
                          return p0[i] * (1 - double(rule.shrink)) -
                                 rule.rate * m1[i] * rule.correction1 /
                                     (std::sqrt(v1[i] * rule.correction2) + rule.eps);
                        }),
                 8 * epsilon);
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, SimdLayerKernelsOf, testing::ValuesIn(tables_for_this_cpu()),
                         [](const auto& table) { return table.param->isa; });

}  // namespace
}  // namespace weft::core::simd_layer_kernels_contract_test
