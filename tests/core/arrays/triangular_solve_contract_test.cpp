#include "core/arrays/triangular_solve.h"
#include "core/counters.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/random_values.h"

namespace weft::core::triangular_solve_contract_test {
namespace {

// Small enough that solutions stay of the size of the right side.
Tensor below_diagonal(Index n, std::uint64_t seed) {
  return tests::random_tensor({n, n}, seed, 0.3 / std::sqrt(double(n)));
}

TEST(TriangularSolve, inverts_a_unit_triangle_and_its_transpose) {
  for (const Index n : {1, 2, 15, 16, 17, 64, 100})
    for (const Index cols : {1, 7, 64})
      for (const bool flip : {false, true}) {
        const Tensor a = below_diagonal(n, 1), b = tests::random_tensor({n, cols}, 2);
        Tensor x = b;
        const Index flops = counters().flops;
        solve_unit_lower(Operand({a.data(), n, n, n}, flip), {x.write().data(), n, cols, cols});
        EXPECT_EQ(counters().flops - flops, n * n * cols);
        std::vector<double> product = tests::in_double(x.read());
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            const Index row = flip ? j : i, column = flip ? i : j;
            if (column >= row) continue;
            for (Index c = 0; c < cols; ++c)
              product[std::size_t(i * cols + c)] +=
                  double(a.read()[std::size_t(row * n + column)]) *
                  x.read()[std::size_t(j * cols + c)];
          }
        tests::expect_close(b.read(), product, 200 * tests::epsilon);
      }
}

TEST(TriangularSolve, a_later_row_moves_no_bit_of_an_earlier_one) {
  for (const Index n : {2, 33, 64}) {
    constexpr Index cols = 24;
    Tensor a = below_diagonal(n, 1), b = tests::random_tensor({n, cols}, 2), x = b, y = b;
    solve_unit_lower(ConstMatrix{a.data(), n, n, n}, {x.write().data(), n, cols, cols});
    for (Index j = 0; j < n; ++j) a.write()[std::size_t((n - 1) * n + j)] = Real(1e6);
    for (Index c = 0; c < cols; ++c) y.write()[std::size_t((n - 1) * cols + c)] = Real(-1e6);
    solve_unit_lower(ConstMatrix{a.data(), n, n, n}, {y.write().data(), n, cols, cols});
    EXPECT_TRUE(tests::same_bits(x.rows(0, n - 1).read(), y.rows(0, n - 1).read()));
  }
}

TEST(TriangularSolve, refuses_shapes_that_do_not_fit) {
  Tensor a({3, 3}, 0), x({4, 2}, 0);
  EXPECT_THROW(solve_unit_lower(ConstMatrix{a.data(), 3, 3, 3}, {x.write().data(), 4, 2, 2}),
               Error);
}

}  // namespace
}  // namespace weft::core::triangular_solve_contract_test
