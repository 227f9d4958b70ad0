#include "autograd/ops.h"
#include "core/error.h"
#include "tests/gradient_check.h"
#include "tests/random_values.h"

namespace weft::autograd::gather_rows_gradient_test {
namespace {

const RowNumbers some = std::make_shared<const std::vector<Index>>(std::vector<Index>{0, 2, 5});

TEST(GatherRows, gradient) {
  tests::check_gradient(
      "gather_rows",
      [](const Pass&, const std::vector<Var>& in) { return gather_rows(in[0], some); },
      {tests::random_tensor({6, 4}, 1)});
}

TEST(ScatterRows, gradient) {
  tests::check_gradient(
      "scatter_rows",
      [](const Pass&, const std::vector<Var>& in) { return scatter_rows(in[0], some, 7); },
      {tests::random_tensor({3, 4}, 1)});
}

TEST(ScatterRows, puts_gathered_rows_back_among_zeros) {
  const Tensor x = tests::random_tensor({6, 2}, 1);
  const Tensor y = scatter_rows(gather_rows(Var(x), some), some, 6).value();
  for (Index row = 0; row < 6; ++row)
    for (Index c = 0; c < 2; ++c) {
      const bool kept = row == 0 || row == 2 || row == 5;
      EXPECT_EQ(y.data()[2 * row + c], kept ? x.data()[2 * row + c] : 0);
    }
  EXPECT_THROW(gather_rows(Var(Tensor({5, 2}, 0)), some), core::Error);
  EXPECT_THROW(scatter_rows(Var(Tensor({2, 2}, 0)), some, 6), core::Error);
}

}  // namespace
}  // namespace weft::autograd::gather_rows_gradient_test
