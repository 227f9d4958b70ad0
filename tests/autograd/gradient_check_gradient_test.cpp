#include <gtest/gtest-spi.h>

#include "autograd/ops.h"
#include "tests/gradient_check.h"

namespace weft::autograd::gradient_check_gradient_test {
namespace {

using tests::check_gradient;
using tests::random_tensor;
using Inputs = std::vector<Var>;

/// x^2 with a gradient that is off by the given factor.
Var square(const Var& x, Real factor) {
  Tensor y(x.shape());
  for (std::size_t i = 0; i < y.read().size(); ++i)
    y.write()[i] = x.value().read()[i] * x.value().read()[i];
  return record("square", y, {x}, [factor, saved = x.value()](Tensor dy) {
    for (std::size_t i = 0; i < dy.read().size(); ++i)
      dy.write()[i] *= 2 * factor * saved.read()[i];
    return Gradients{dy};
  });
}

TEST(GradientCheck, accepts_a_right_gradient) {
  check_gradient("square", [](const Pass&, const Inputs& x) { return square(x[0], 1); },
                 {random_tensor({40, 30}, 1)});
}

TEST(GradientCheck, sees_an_error_in_the_eighth_digit) {
  EXPECT_NONFATAL_FAILURE(
      check_gradient("square",
                     [](const Pass&, const Inputs& x) { return square(x[0], Real(1 + 1e-7)); },
                     {random_tensor({40, 30}, 1)}),
      "square: the sweep gives");
}

TEST(GradientCheck, sees_a_parameter_gradient_that_is_assigned_instead_of_added) {
  Parameter parameter({4}, Init::zeros());
  const auto assigning = [&](const Pass& pass, const Inputs&) {
    if (!pass.tape()) return Var(parameter.value());
    return pass.tape()->record("assign", parameter.value(), {}, [&](Tensor dy) {
      std::ranges::copy(dy.read(), parameter.gradient().begin());
      return Gradients{};
    });
  };
  EXPECT_NONFATAL_FAILURE(check_gradient("assign", assigning, {}, {&parameter}), "assign");
}

TEST(GradientCheck, sees_a_value_that_changes_when_it_is_recorded) {
  EXPECT_NONFATAL_FAILURE(check_gradient("scale",
                                         [](const Pass& pass, const Inputs& x) {
                                           return pass.tape() ? scale(x[0], 1)
                                                              : add(x[0], Var(Tensor({5}, 1)));
                                         },
                                         {random_tensor({5}, 1)}),
                          "recording changes the value");
}

}  // namespace
}  // namespace weft::autograd::gradient_check_gradient_test
