// The kernels of arithmetic and softmax on every instruction set, against scalar loops in double.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "core/error.h"
#include "tests/closeness.h"
#include "tests/core/simd/simd_tables.h"

namespace weft::core::simd_kernels_contract_test {
namespace {

using tests::epsilon;
using tests::expect_close;

TEST_P(SimdKernelsOf, sum) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1);
    double expected = 0, size = 0;
    for (const Real v : x) expected += v, size += std::abs(v);
    EXPECT_NEAR(k.sum(x.data(), n), expected, 8 * epsilon * size) << n;
  }
}

TEST_P(SimdKernelsOf, dot) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1), y = drawn(n, 2);
    double expected = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected += double(x[i]) * y[i];
      size += std::abs(double(x[i]) * y[i]);
    }
    EXPECT_NEAR(k.dot(x.data(), y.data(), n), expected, 8 * epsilon * size) << n;
  }
}

TEST_P(SimdKernelsOf, max) {
  for (const Index n : lengths_from_one()) {
    Numbers x = drawn(n, 1);
    for (Real& v : x) v -= 10;  // a padding zero would win
    for (const std::size_t place : {std::size_t(0), std::size_t(n / 2), std::size_t(n - 1)}) {
      Numbers peaked = x;
      peaked[place] = -1;
      EXPECT_EQ(k.max(peaked.data(), n), -1) << n;
    }
    const Numbers lowest(std::size_t(n), -std::numeric_limits<Real>::infinity());
    EXPECT_EQ(k.max(lowest.data(), n), -std::numeric_limits<Real>::infinity());
  }
}

TEST_P(SimdKernelsOf, scale) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1);
    Numbers y = x;
    k.scale(Real(-1.5), y.data(), n);
    expect_close(y, mapped(n, [&](auto i) { return -1.5 * x[i]; }), epsilon);
  }
}

TEST_P(SimdKernelsOf, add) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1), y = drawn(n, 2);
    Numbers out(x.size()), onto = y;
    k.add(x.data(), y.data(), out.data(), n);
    const auto expected = mapped(n, [&](auto i) { return double(x[i]) + y[i]; });
    expect_close(out, expected, epsilon);
    k.add(x.data(), onto.data(), onto.data(), n);
    expect_close(onto, expected, epsilon);
  }
}

TEST_P(SimdKernelsOf, axpy) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1), y = drawn(n, 2);
    Numbers out = y;
    k.axpy(Real(0.75), x.data(), out.data(), n);
    expect_close(out, mapped(n, [&](auto i) { return 0.75 * x[i] + y[i]; }), 2 * epsilon);
  }
}

TEST_P(SimdKernelsOf, multiply_and_multiply_add) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1), y = drawn(n, 2), z = drawn(n, 3);
    Numbers out(x.size()), onto = z;
    k.multiply(x.data(), y.data(), out.data(), n);
    expect_close(out, mapped(n, [&](auto i) { return double(x[i]) * y[i]; }), epsilon);
    k.multiply_add(x.data(), y.data(), onto.data(), n);
    expect_close(onto, mapped(n, [&](auto i) { return double(x[i]) * y[i] + z[i]; }), 4 * epsilon);
  }
}

TEST_P(SimdKernelsOf, exp_sum) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1, 5);
    Numbers y = x;
    const Real total = k.exp_sum(y.data(), Real(0.5), 3, n);
    const auto expected = mapped(n, [&](auto i) { return std::exp(0.5 * x[i] - 3); });
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += expected[i];
      ASSERT_NEAR(y[i], expected[i], 16 * epsilon * expected[i]);
    }
    EXPECT_NEAR(total, sum, 16 * epsilon * sum);
  }
}

TEST_P(SimdKernelsOf, exp_difference) {
  for (const Index n : lengths()) {
    const Numbers x = drawn(n, 1, 3), y = drawn(n, 2, 3);
    Numbers out(x.size()), onto = x;
    k.exp_difference(x.data(), y.data(), out.data(), n);
    k.exp_difference(onto.data(), y.data(), onto.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(double(x[i]) - y[i]);
      ASSERT_NEAR(out[i], expected, 32 * epsilon * expected);
      ASSERT_EQ(onto[i], out[i]);
    }
  }
  const Numbers low(9, Real(-1e30)), high(9, 2);
  Numbers out(9);
  k.exp_difference(low.data(), high.data(), out.data(), 9);
  for (const Real x : out) EXPECT_EQ(x, 0);
}

TEST_P(SimdKernelsOf, exp_sum_turns_very_negative_numbers_into_exact_zeros) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  for (const Real far : {-infinity, std::numeric_limits<Real>::lowest(), Real(-1e30), Real(-2000)})
    for (const Index n : lengths_from_one()) {
      Numbers x(std::size_t(n), far);
      EXPECT_EQ(k.exp_sum(x.data(), Real(0.5), 1, n), 0) << far;
      for (const Real v : x) ASSERT_EQ(v, 0) << far;
      x.assign(std::size_t(n), far);
      x[std::size_t(n / 2)] = 2;
      EXPECT_EQ(k.exp_sum(x.data(), Real(0.5), 1, n), 1);
    }
}

TEST_P(SimdKernelsOf, exp_sum_falls_smoothly_to_zero) {
  // Across the end of the number range: never NaN, never negative, never increasing.
  Numbers x;
  for (int i = 0; i < 2000; ++i)
    x.push_back(Real(-i) * (sizeof(Real) == 4 ? Real(0.06) : Real(0.4)));
  const Numbers before = x;
  k.exp_sum(x.data(), 1, 0, Index(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_GE(x[i], 0) << before[i];
    ASSERT_NEAR(x[i], std::exp(double(before[i])),
                4 * std::numeric_limits<Real>::min() + 8 * epsilon * x[i])
        << before[i];
    ASSERT_LE(x[i], x[i > 0 ? i - 1 : 0]);
  }
}

TEST_P(SimdKernelsOf, score_gradient) {
  for (const Index n : lengths()) {
    const Numbers p = drawn(n, 1), s = drawn(n, 2);
    Numbers out = s;
    k.score_gradient(p.data(), out.data(), Real(0.3), Real(0.125), n);
    const double delta = Real(0.3);
    // A probability of 1 (here: 1 or more) has no gradient.
    expect_close(out,
                 mapped(n, [&](auto i) { return p[i] >= 1 ? 0 : p[i] * (s[i] - delta) * 0.125; }),
                 4 * epsilon);
  }
}

TEST_P(SimdKernelsOf, gives_the_same_bits_wherever_the_numbers_lie) {
  const Index n = 1000;
  const Numbers x = drawn(n + 16, 1), y = drawn(n + 16, 2);
  Numbers a(x.begin(), x.begin() + n), b(y.begin(), y.begin() + n);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    Numbers c(std::size_t(n) + shift), d(c);
    std::copy_n(a.begin(), n, c.begin() + Index(shift));
    std::copy_n(b.begin(), n, d.begin() + Index(shift));
    EXPECT_EQ(k.sum(c.data() + shift, n), k.sum(a.data(), n));
    EXPECT_EQ(k.dot(c.data() + shift, d.data() + shift, n), k.dot(a.data(), b.data(), n));
    Numbers e = a;
    EXPECT_EQ(k.exp_sum(c.data() + shift, 1, 2, n), k.exp_sum(e.data(), 1, 2, n));
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, SimdKernelsOf, testing::ValuesIn(tables_for_this_cpu()),
                         [](const auto& table) { return table.param->isa; });

TEST(Simd, chooses_a_table_that_this_cpu_can_run) {
  bool found = false;
  for (const SimdKernels* table : tables_for_this_cpu()) found = found || table == &simd();
  EXPECT_TRUE(found) << simd().isa;
}

/// Ends the process with 0 when WEFT_ISA = `isa` chooses that table, else with the message.
[[noreturn]] void choose_and_exit(const char* isa) {
  setenv("WEFT_ISA", isa, 1);
  try {
    std::exit(std::string(simd().isa) == isa ? 0 : 1);
  } catch (const Error& error) {
    std::cerr << error.what();
    std::exit(2);
  }
}

TEST(SimdDeathTest, obeys_the_environment_and_refuses_what_it_does_not_know) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const SimdKernels* table : tables_for_this_cpu())
    EXPECT_EXIT(choose_and_exit(table->isa), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(choose_and_exit("sse9"), testing::ExitedWithCode(2),
              "WEFT_ISA=sse9 is none of baseline, avx2, avx512");
}

}  // namespace
}  // namespace weft::core::simd_kernels_contract_test
