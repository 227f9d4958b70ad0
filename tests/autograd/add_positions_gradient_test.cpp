#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::add_positions_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(AddPositionsGradient, agrees_with_differences) {
  struct Case {
    Index batch, length, width, first;
  };
  for (const Case c : {Case{1, 1, 1, 0}, {3, 5, 7, 0}, {2, 4, 9, 3}, {40, 8, 130, 1}}) {
    Parameter table({c.first + c.length + 2, c.width}, Init::zeros());
    check_gradient(
        "add_positions",
        [&](const Pass&, const Inputs& x) { return add_positions(x[0], table, c.length, c.first); },
        {random_tensor({c.batch * c.length, c.width}, 1)}, {&table});
  }
}

TEST(AddPositionsGradient, passes_by_a_fixed_table) {
  const Tensor table = random_tensor({6, 5}, 2);
  check_gradient("add_positions",
                 [&](const Pass&, const Inputs& x) { return add_positions(x[0], table, 3, 2); },
                 {random_tensor({9, 5}, 1)});
}

}  // namespace
}  // namespace weft::autograd::add_positions_gradient_test
