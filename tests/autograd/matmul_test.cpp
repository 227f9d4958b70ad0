#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::matmul_test {
namespace {

using tests::random_tensor;

/// Where element (i, j) of a factor stands in memory.
std::size_t place(const Tensor& x, bool flipped, Index i, Index j) {
  return std::size_t(flipped ? j * x.shape()[1] + i : i * x.shape()[1] + j);
}

void compare(Index m, Index n, Index k, bool flip_a, bool flip_b) {
  const Tensor a = random_tensor(flip_a ? Shape{k, m} : Shape{m, k}, 1);
  const Tensor b = random_tensor(flip_b ? Shape{n, k} : Shape{k, n}, 2);
  const auto pulled = tests::pull_back(
      [&](const Pass&, const std::vector<Var>& x) { return matmul(x[0], x[1], flip_a, flip_b); },
      {a, b});
  std::vector<double> c, da(a.read().size(), 0.0), db(b.read().size(), 0.0);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      const double d = pulled.upstream.data()[i * n + j];
      for (Index l = 0; l < k; ++l) {
        const std::size_t at_a = place(a, flip_a, i, l), at_b = place(b, flip_b, l, j);
        sum += double(a.read()[at_a]) * b.read()[at_b];
        da[at_a] += d * b.read()[at_b];
        db[at_b] += d * a.read()[at_a];
      }
      c.push_back(sum);
    }
  // Kernels add up in orders of their own: a rounding for each term.
  tests::expect_close(pulled.value.read(), c, 2 * tests::epsilon * double(k));
  tests::expect_close(pulled.gradients[0].read(), da, 2 * tests::epsilon * double(n));
  tests::expect_close(pulled.gradients[1].read(), db, 2 * tests::epsilon * double(m));
}

TEST(Matmul, equals_the_triple_loop_however_the_factors_are_stored) {
  for (const bool flip_a : {false, true})
    for (const bool flip_b : {false, true}) {
      compare(1, 1, 1, flip_a, flip_b);
      compare(1, 7, 5, flip_a, flip_b);
      compare(9, 1, 4, flip_a, flip_b);
      compare(600, 40, 33, flip_a, flip_b);
    }
}

TEST(Matmul, refuses_factors_that_do_not_fit) {
  const Var a(Tensor({2, 3}, 1)), b(Tensor({2, 4}, 1));
  EXPECT_THROW(matmul(a, b), core::Error);
  EXPECT_EQ(matmul(a, b, true).shape(), (Shape{3, 4}));
  EXPECT_THROW(matmul(a, b, false, true), core::Error);
  EXPECT_THROW(matmul(a, Var(Tensor({3}, 1))), core::Error);
}

}  // namespace
}  // namespace weft::autograd::matmul_test
