#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::slice_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(SliceGradient, agrees_with_differences) {
  struct Case {
    Shape shape;
    Index first, count;
  };
  for (const auto& [shape, first, count] :
       {Case{{5}, 0, 5}, {{1, 9}, 8, 1}, {{7, 5}, 1, 3}, {{2, 3, 11}, 4, 6}, {{300, 131}, 3, 128}})
    check_gradient("slice", [&](const Pass&, const Inputs& x) { return slice(x[0], first, count); },
                   {random_tensor(shape, 1)});
}

TEST(SliceGradient, adds_up_over_overlapping_slices) {
  check_gradient(
      "slice",
      [](const Pass&, const Inputs& x) { return add(slice(x[0], 0, 4), slice(x[0], 2, 4)); },
      {random_tensor({3, 6}, 1)});
}

}  // namespace
}  // namespace weft::autograd::slice_gradient_test
