#include "core/arrays/bf16.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/arrays/factor.h"
#include "core/arrays/gemm.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/core/simd/simd_tables.h"
#include "tests/random_values.h"

namespace weft::core::bf16_test {
namespace {

Bf16 rounded(Real x, const SimdKernels& kernels = simd()) {
  Bf16 y = 0;
  kernels.round_to_bf16(&x, &y, 1);
  return y;
}

class Bf16RoundingOf : public SimdKernelsOf {};

TEST_P(Bf16RoundingOf, is_to_nearest_and_even_on_ties) {
  EXPECT_EQ(from_bf16(rounded(Real(1), k)), 1);
  EXPECT_EQ(from_bf16(rounded(Real(1.00390625), k)), 1);         // a tie, down to even
  EXPECT_EQ(from_bf16(rounded(Real(1.01171875), k)), 1.015625);  // a tie, up to even
  EXPECT_EQ(from_bf16(rounded(Real(-1.005), k)), -1.0078125);
  EXPECT_EQ(from_bf16(rounded(Real(3e38), k)), Real(float(0x1.c4p127)));
  EXPECT_EQ(rounded(Real(-0.0), k), 0x8000);
}

TEST_P(Bf16RoundingOf, keeps_what_is_not_finite) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  EXPECT_EQ(from_bf16(rounded(infinity, k)), infinity);
  EXPECT_EQ(from_bf16(rounded(-infinity, k)), -infinity);
  EXPECT_TRUE(std::isnan(from_bf16(rounded(std::numeric_limits<Real>::quiet_NaN(), k))));
}

TEST_P(Bf16RoundingOf, is_the_same_for_any_length) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 7);
    std::vector<Bf16> y(std::size_t(n), 0);
    k.round_to_bf16(x.data(), y.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], rounded(x[i], baseline::kernels));
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Bf16RoundingOf, testing::ValuesIn(tables_for_this_cpu()),
                         [](const auto& table) { return std::string(table.param->isa); });

/// A drawn matrix inside a wider array, in Real and rounded.
struct Sides {
  Sides(Index rows, Index cols, Index gap, std::uint64_t seed)
      : numbers(tests::random_tensor({rows, cols + gap}, seed)),
        exact{numbers.data(), rows, cols, cols + gap},
        copy(Bf16Array::of(exact)) {}
  double at(Index r, Index c) const { return from_bf16(rounded(exact.row(r)[c])); }
  Tensor numbers;
  ConstMatrix exact;
  Bf16Array copy;
};

using Product = void (*)(Real, const Operand&, const Operand&, Real, const Matrix&);

struct Size {
  Index m, n, k;
};

void compare_with_triple_loop(Product product, const Size& size, bool flip_a, bool flip_b) {
  const Sides a(flip_a ? size.k : size.m, flip_a ? size.m : size.k, 3, 1);
  const Sides b(flip_b ? size.n : size.k, flip_b ? size.k : size.n, 5, 2);
  for (const auto& [alpha, beta] : {std::pair<Real, Real>{1, 0}, {Real(0.125), 1}, {-1, 2}}) {
    Tensor c = beta == 0 ? Tensor({size.m, size.n + 2}, std::numeric_limits<Real>::quiet_NaN())
                         : tests::random_tensor({size.m, size.n + 2}, 3);
    const Tensor before = c;
    product(alpha, {a.copy.view(), flip_a}, {b.exact, flip_b}, beta,
            {c.write().data(), size.m, size.n, size.n + 2});
    SCOPED_TRACE(message_of(size.m, " x ", size.n, " x ", size.k, flip_a, flip_b, " beta ", beta));
    for (Index i = 0; i < size.m; ++i)
      for (Index j = 0; j < size.n; ++j) {
        double sum = 0;
        for (Index l = 0; l < size.k; ++l)
          sum += (flip_a ? a.at(l, i) : a.at(i, l)) * (flip_b ? b.at(j, l) : b.at(l, j));
        const Index at = i * (size.n + 2) + j;
        const double expected = alpha * sum + (beta == 0 ? 0 : beta * double(before.data()[at]));
        ASSERT_NEAR(c.data()[at], expected, tests::epsilon * 16 * (1 + std::sqrt(size.k)));
      }
  }
}

TEST(Bf16Gemm, equals_the_triple_loop_over_rounded_numbers) {
  for (const Size& size :
       {Size{16, 32, 48}, {1, 1, 1}, {5, 7, 9}, {64, 17, 33}, {33, 48, 2}, {4, 3, 0}})
    for (const bool flip_a : {false, true})
      for (const bool flip_b : {false, true})
        for (const Product product : {Product(gemm), Product(emulated_bf16_gemm)})
          compare_with_triple_loop(product, size, flip_a, flip_b);
}

TEST(Bf16Gemm, gives_the_same_bits_on_any_number_of_threads) {
  const Index m = 300, n = 200, k = 600;
  const Sides a(k, m, 0, 1), b(k, n, 0, 2);
  const auto product = [&](Index threads) {
    set_threads(threads);
    Tensor c({m, n});
    parallel_gemm(1, {a.copy.view(), true}, b.copy.view(), 0, {c.write().data(), m, n, n});
    set_threads(0);
    return c;
  };
  EXPECT_TRUE(tests::same_bits(product(1).read(), product(3).read()));
}

TEST(Bf16Gemm, counts_its_flops) {
  const Sides a(8, 16, 0, 1), b(16, 4, 0, 2);
  Tensor c({8, 4});
  const Index before = counters().flops;
  gemm(Precision::bf16, 1, a.exact, b.exact, 0, {c.write().data(), 8, 4, 4});
  EXPECT_EQ(counters().flops - before, 2 * 8 * 4 * 16);
}

TEST(Bf16Gemm, a_factor_is_read_in_place_in_float32_and_rounded_in_bf16) {
  const Sides a(3, 5, 2, 1);
  Factor exact(Precision::float32), copy(Precision::bf16);
  EXPECT_EQ(exact.of(a.exact).matrix.data, a.exact.data);
  const Operand made = copy.of(a.exact);
  ASSERT_NE(made.rounded, nullptr);
  EXPECT_EQ(made.rounded[7], rounded(a.exact.row(1)[2]));
}

}  // namespace
}  // namespace weft::core::bf16_test
