#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"

namespace weft::autograd::append_rows_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(AppendRowsGradient, agrees_with_differences) {
  for (const Index first : {0, 2, 4})
    check_gradient("append_rows",
                   [&](const Pass&, const Inputs& x) { return append_rows(x[0], x[1], 2, first); },
                   {random_tensor({6, 3}, 1), random_tensor({10, 7}, 2)});
}

TEST(AppendRows, puts_the_earlier_rows_of_each_sequence_before_its_own) {
  Tensor earlier({2, 1}), x({4, 2});
  std::ranges::copy(std::vector<Real>{1, 2}, earlier.write().begin());
  std::ranges::copy(std::vector<Real>{10, 11, 20, 21, 30, 31, 40, 41}, x.write().begin());
  tests::expect_close(append_rows(Var(earlier), Var(x), 2, 1).value().read(),
                      {1, 11, 21, 2, 31, 41}, 0);
}

}  // namespace
}  // namespace weft::autograd::append_rows_gradient_test
