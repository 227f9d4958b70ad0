#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::add_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(AddGradient, agrees_with_differences) {
  for (const Shape& shape : {Shape{1}, Shape{7, 5}, Shape{2, 3, 11}, Shape{300, 130}})
    check_gradient("add", [](const Pass&, const Inputs& x) { return add(x[0], x[1]); },
                   {random_tensor(shape, 1), random_tensor(shape, 2)});
}

TEST(AddGradient, counts_a_variable_once_for_each_use) {
  check_gradient("add",
                 [](const Pass&, const Inputs& x) {
                   const Var twice = add(x[0], x[0]);
                   return add(add(twice, x[0]), twice);
                 },
                 {random_tensor({3, 4}, 1)});
}

TEST(AddGradient, passes_by_a_constant) {
  const Var constant(random_tensor({3, 4}, 2));
  check_gradient("add",
                 [&](const Pass&, const Inputs& x) { return add(constant, add(x[0], constant)); },
                 {random_tensor({3, 4}, 1)});
}

}  // namespace
}  // namespace weft::autograd::add_gradient_test
