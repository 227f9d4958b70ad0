#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::add_rows_gradient_test {
namespace {

TEST(AddRowsGradient, agrees_with_differences_also_where_some_rows_get_nothing) {
  for (const Index width : {1, 5, 130}) {
    Parameter table({4, width}, Init::zeros());
    const core::Tokens ids({7}, {3, 0, core::no_target, 3, 1, core::no_target, 3});
    tests::check_gradient(
        "add_rows",
        [&](const Pass&, const std::vector<Var>& x) { return add_rows(x[0], table, ids); },
        {tests::random_tensor({7, width}, 1)}, {&table});
  }
}

}  // namespace
}  // namespace weft::autograd::add_rows_gradient_test
