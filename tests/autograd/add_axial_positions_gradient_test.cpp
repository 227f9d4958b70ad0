#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::add_axial_positions_gradient_test {
namespace {

TEST(AddAxialPositionsGradient, agrees_with_differences) {
  struct Case {
    Index batch, length, start, n1, n2, d1, d2;
  };
  for (const Case c : {Case{1, 1, 0, 1, 1, 1, 1},
                       {2, 12, 0, 3, 4, 2, 5},
                       {3, 7, 4, 3, 4, 5, 2},
                       {2, 35, 0, 6, 6, 70, 130}}) {
    Parameter first({c.n1, c.d1}, Init::zeros()), second({c.n2, c.d2}, Init::zeros());
    tests::check_gradient("add_axial_positions",
                          [&](const Pass&, const std::vector<Var>& x) {
                            return add_axial_positions(x[0], first, second, c.length, c.start);
                          },
                          {tests::random_tensor({c.batch * c.length, c.d1 + c.d2}, 1)},
                          {&first, &second});
  }
}

}  // namespace
}  // namespace weft::autograd::add_axial_positions_gradient_test
