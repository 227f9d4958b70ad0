#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd {
namespace {

using tests::check_gradient;
using tests::random_tensor;

TEST(MeanRowsGradient, agrees_with_differences) {
  for (const std::vector<Index>& counts :
       {std::vector<Index>{5}, {1}, {3, 5, 1}, {5, 5, 5}, {1, 1, 1, 1}})
    check_gradient("mean_rows",
                   [&](const Pass&, const std::vector<Var>& x) { return mean_rows(x[0], counts); },
                   {random_tensor({Index(counts.size()) * 5, 7}, 1)});
}

TEST(MeanRows, is_the_mean_of_the_first_rows_of_each_sequence) {
  const Tensor x({4, 2}, {1, 2, 3, 6, 5, 7, 100, 100});
  const Tensor y = mean_rows(Var(x), {2, 1}).value();
  EXPECT_EQ(std::vector<Real>(y.read().begin(), y.read().end()), (std::vector<Real>{2, 4, 5, 7}));
}

TEST(MeanRows, refuses_counts_that_no_sequence_has) {
  const Tensor x({4, 2}, 0);
  EXPECT_THROW(mean_rows(Var(x), {2, 3}), core::Error);
  EXPECT_THROW(mean_rows(Var(x), {0, 2}), core::Error);
  EXPECT_THROW(mean_rows(Var(x), {1, 1, 1}), core::Error);
}

}  // namespace
}  // namespace weft::autograd
