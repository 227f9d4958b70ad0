#include "autograd/ops.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::as_variable_test {
namespace {

TEST(AsVariable, shows_the_parameter_without_a_copy_and_adds_to_its_gradient) {
  Parameter parameter({3, 5}, Init::zeros());
  const tests::DrawnParameters drawn({&parameter});
  std::ranges::fill(parameter.gradient(), Real(1));
  const auto pulled = tests::pull_back(
      [&](const Pass& pass, const std::vector<Var>&) { return as_variable(pass, parameter); }, {});
  EXPECT_EQ(pulled.value.data(), parameter.data());
  for (std::size_t i = 0; i < 15; ++i)
    EXPECT_EQ(parameter.gradient()[i], 1 + pulled.upstream.read()[i]);
}

TEST(AsVariable, records_nothing_without_a_tape) {
  Parameter parameter({3}, Init::zeros());
  const tests::DrawnParameters drawn({&parameter});
  EXPECT_EQ(as_variable(Pass(), parameter).tape(), nullptr);
}

}  // namespace
}  // namespace weft::autograd::as_variable_test
