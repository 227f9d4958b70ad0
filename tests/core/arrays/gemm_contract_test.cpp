#include <cmath>
#include <limits>
#include <vector>

#include "core/arrays/gemm.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::core::gemm_contract_test {
namespace {

using Product = void (*)(Real, const Operand&, const Operand&, Real, const Matrix&);

/// A matrix inside a wider array: rows lie `gap` elements further apart than they are long.
struct Stored {
  Stored(Index rows_, Index cols_, Index gap, std::uint64_t seed)
      : rows(rows_), cols(cols_), stride(cols_ + gap) {
    const Tensor drawn = tests::random_tensor({rows * stride}, seed);
    numbers.assign(drawn.read().begin(), drawn.read().end());
  }
  ConstMatrix view() const { return {numbers.data(), rows, cols, stride}; }
  Matrix mutable_view() { return {numbers.data(), rows, cols, stride}; }

  Index rows, cols, stride;
  std::vector<Real> numbers;
};

double at(const Operand& f, Index i, Index j) {
  return f.transposed ? f.matrix.data[j * f.matrix.stride + i]
                      : f.matrix.data[i * f.matrix.stride + j];
}

/// The plain triple loop in double, over the whole array that holds c.
std::vector<double> naive(Real alpha, const Operand& a, const Operand& b, Real beta,
                          const Stored& c) {
  std::vector<double> result = tests::in_double(c.numbers);
  for (Index i = 0; i < c.rows; ++i)
    for (Index j = 0; j < c.cols; ++j) {
      double sum = 0;
      for (Index k = 0; k < a.cols(); ++k) sum += at(a, i, k) * at(b, k, j);
      double& to = result[std::size_t(i * c.stride + j)];
      to = alpha * sum + (beta == 0 ? 0 : beta * to);
    }
  return result;
}

struct Size {
  Index m, n, k;
};

void compare_with_triple_loop(Product product, Size size, Index gap) {
  for (const bool flip_a : {false, true})
    for (const bool flip_b : {false, true})
      for (const auto& [alpha, beta] : {std::pair<Real, Real>{1, 0}, {1, 1}, {Real(-0.5), 2}}) {
        const Stored a(flip_a ? size.k : size.m, flip_a ? size.m : size.k, gap, 1);
        const Stored b(flip_b ? size.n : size.k, flip_b ? size.k : size.n, gap, 2);
        Stored c(size.m, size.n, gap, 3);
        const Operand left(a.view(), flip_a), right(b.view(), flip_b);
        const auto expected = naive(alpha, left, right, beta, c);
        if (beta == 0)  // what c held before must not matter, NaN included
          for (Index i = 0; i < c.rows; ++i)
            std::fill_n(c.numbers.begin() + i * c.stride, c.cols,
                        std::numeric_limits<Real>::quiet_NaN());
        product(alpha, left, right, beta, c.mutable_view());
        SCOPED_TRACE(message_of(size.m, " x ", size.n, " x ", size.k, ", transposed ", flip_a,
                                flip_b, ", alpha ", alpha, ", beta ", beta, ", gap ", gap));
        tests::expect_close(c.numbers, expected, tests::epsilon * 4 * (1 + std::sqrt(size.k)) * 4);
      }
}

const std::vector<Size> degenerate{{0, 4, 3}, {4, 0, 3}, {4, 3, 0}, {0, 0, 0}, {0, 3, 0},
                                   {1, 1, 1}, {1, 7, 5}, {7, 1, 5}, {1, 1, 9}, {5, 6, 1}};

TEST(Gemm, equals_the_triple_loop) {
  for (const Index gap : {0, 3})
    for (const Size size : {Size{2, 3, 4}, {17, 33, 65}, {64, 64, 64}, {100, 5, 129}})
      compare_with_triple_loop(gemm, size, gap);
}

TEST(Gemm, equals_the_triple_loop_at_degenerate_sizes) {
  for (const Index gap : {0, 3})
    for (const Size size : degenerate) compare_with_triple_loop(gemm, size, gap);
}

TEST(ParallelGemm, equals_the_triple_loop) {
  // Split by rows, by columns, by both, and not at all.
  for (const Size size : {Size{1100, 130, 70}, {64, 2100, 40}, {600, 600, 31}, {30, 20, 10}})
    compare_with_triple_loop(parallel_gemm, size, 2);
}

TEST(ParallelGemm, equals_the_triple_loop_at_degenerate_sizes) {
  for (const Index gap : {0, 3})
    for (const Size size : degenerate) compare_with_triple_loop(parallel_gemm, size, gap);
}

TEST(ParallelGemm, gives_the_same_bits_on_any_number_of_threads) {
  for (const Size size : {Size{1100, 130, 70}, {64, 2100, 40}, {600, 600, 31}}) {
    const Stored a(size.m, size.k, 0, 1), b(size.k, size.n, 0, 2);
    std::vector<Real> first;
    for (const Index n : {1, 2, 3, 7}) {
      set_threads(n);
      Stored c(size.m, size.n, 0, 3);
      parallel_gemm(1, a.view(), b.view(), 1, c.mutable_view());
      if (first.empty()) first = c.numbers;
      EXPECT_TRUE(tests::same_bits(c.numbers, first)) << n << " threads";
    }
    set_threads(0);
  }
}

TEST(Gemm, refuses_shapes_that_do_not_fit) {
  Stored a(3, 4, 0, 1), b(5, 6, 0, 2), c(3, 6, 0, 3);
  EXPECT_THROW(gemm(1, a.view(), b.view(), 0, c.mutable_view()), Error);
  EXPECT_THROW(parallel_gemm(1, a.view(), b.view(), 0, c.mutable_view()), Error);
}

TEST(Gemm, counts_two_operations_for_each_product) {
  const Stored a(600, 31, 0, 1), b(31, 600, 0, 2);
  Stored c(600, 600, 0, 3);
  for (const Product product : {gemm, parallel_gemm}) {
    const Index before = counters().flops;
    product(1, a.view(), b.view(), 0, c.mutable_view());
    EXPECT_EQ(counters().flops - before, 2 * 600 * 600 * 31);
  }
}

TEST(Gemm, names_the_kernels_it_runs) { EXPECT_FALSE(blas_core().empty()); }

}  // namespace
}  // namespace weft::core::gemm_contract_test
