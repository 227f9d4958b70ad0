#include "autograd/ops.h"
#include "core/error.h"
#include "tests/closeness.h"
#include "tests/pull_back.h"

namespace weft::autograd::mean_rows_test {
namespace {

TEST(MeanRows, is_the_mean_of_the_first_rows_of_each_sequence) {
  const Tensor x = tests::random_tensor({2 * 3, 4}, 1);
  const std::vector<Index> counts = {3, 2};
  const Tensor y = mean_rows(Var(x), counts).value();
  ASSERT_EQ(y.shape(), (Shape{2, 4}));
  std::vector<double> expected(8, 0);
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < std::size_t(counts[b]); ++t)
      for (std::size_t c = 0; c < 4; ++c)
        expected[b * 4 + c] += double(x.read()[(b * 3 + t) * 4 + c]) / double(counts[b]);
  tests::expect_close(y.read(), expected, 10 * tests::epsilon);
}

TEST(MeanRows, refuses_counts_that_no_sequence_has) {
  const Var x(Tensor({4, 2}, 1));
  EXPECT_THROW(mean_rows(x, {2, 3}), core::Error);
  EXPECT_THROW(mean_rows(x, {0, 2}), core::Error);
  EXPECT_THROW(mean_rows(x, {1, 1, 1}), core::Error);
}

}  // namespace
}  // namespace weft::autograd::mean_rows_test
