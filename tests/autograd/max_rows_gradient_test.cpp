#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::max_rows_gradient_test {
namespace {

TEST(MaxRowsGradient, agrees_with_differences) {
  for (const std::vector<Index>& counts : {std::vector<Index>{5}, {1}, {3, 5, 1}})
    tests::check_gradient(
        "max_rows", [&](const Pass&, const std::vector<Var>& x) { return max_rows(x[0], counts); },
        {tests::random_tensor({Index(counts.size()) * 5, 7}, 1)});
}

}  // namespace
}  // namespace weft::autograd::max_rows_gradient_test
