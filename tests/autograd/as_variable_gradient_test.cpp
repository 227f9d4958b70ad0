#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::as_variable_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

TEST(AsVariableGradient, agrees_with_differences) {
  for (const Shape& shape : {Shape{1}, Shape{7, 5}, Shape{2, 3, 11}}) {
    Parameter parameter(shape, Init::zeros());
    check_gradient("as_variable",
                   [&](const Pass& pass, const Inputs&) { return as_variable(pass, parameter); },
                   {}, {&parameter});
  }
}

TEST(RowsAsVariableGradient, agrees_with_differences) {
  Parameter parameter({7, 5}, Init::zeros());
  for (const Index rows : {1, 4, 7})
    check_gradient(
        "rows_as_variable",
        [&](const Pass& pass, const Inputs&) { return rows_as_variable(pass, parameter, rows); },
        {}, {&parameter});
}

TEST(AsVariableGradient, adds_up_over_uses) {
  Parameter square({5, 5}, Init::zeros());
  check_gradient("as_variable",
                 [&](const Pass& pass, const Inputs& x) {
                   return matmul(matmul(x[0], as_variable(pass, square)), as_variable(pass, square),
                                 false, true);
                 },
                 {random_tensor({3, 5}, 1)}, {&square});
}

}  // namespace
}  // namespace weft::autograd::as_variable_gradient_test
