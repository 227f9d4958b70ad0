#include "autograd/ops.h"
#include "core/error.h"
#include "tests/gradient_check.h"

namespace weft::autograd::row_products_gradient_test {
namespace {

using tests::random_tensor;

TEST(RowProducts, multiply_every_row_with_every_row) {
  const Tensor a = random_tensor({3, 5}, 1), b = random_tensor({4, 5}, 2);
  const Tensor y = row_products(Var(a), Var(b)).value();
  ASSERT_EQ(y.shape(), (Shape{12, 5}));
  for (Index s = 0; s < 3; ++s)
    for (Index k = 0; k < 4; ++k)
      for (Index i = 0; i < 5; ++i)
        EXPECT_EQ(y.read()[std::size_t((s * 4 + k) * 5 + i)],
                  a.read()[std::size_t(s * 5 + i)] * b.read()[std::size_t(k * 5 + i)]);
  EXPECT_THROW(row_products(Var(a), Var(random_tensor({4, 6}, 3))), core::Error);
}

TEST(RowProductsGradient, agrees_with_differences) {
  for (const auto& [s, m, n] :
       {std::tuple{1, 1, 1}, {3, 4, 5}, {1, 7, 3}, {8, 1, 40}, {6, 50, 300}})
    tests::check_gradient(
        "row_products",
        [](const Pass&, const std::vector<Var>& x) { return row_products(x[0], x[1]); },
        {random_tensor({s, n}, 1), random_tensor({m, n}, 2)});
}

}  // namespace
}  // namespace weft::autograd::row_products_gradient_test
