#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::dropout_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(DropoutGradient, agrees_with_differences) {
  for (const Real rate : {Real(0.1), Real(0.75)})
    for (const Shape& shape : {Shape{13}, Shape{7, 5}, Shape{2, 3, 11}, Shape{300, 131}})
      check_gradient(
          "dropout",
          [&](const Pass& pass, const Inputs& x) { return dropout(pass.at("here"), x[0], rate); },
          {random_tensor(shape, 1)});
}

TEST(DropoutGradient, uses_the_mask_of_its_place) {
  check_gradient("dropout",
                 [](const Pass& pass, const Inputs& x) {
                   return add(dropout(pass.at(1), x[0], Real(0.5)),
                              dropout(pass.at(2), x[0], Real(0.5)));
                 },
                 {random_tensor({9, 7}, 1)});
}

}  // namespace
}  // namespace weft::autograd::dropout_gradient_test
