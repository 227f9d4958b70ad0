#include "layers/universal/halting.h"
#include "tests/gradient_check.h"

namespace weft::layers::halting_gradient_test {
namespace {

TEST(StepWeightsGradient, agrees_with_differences) {
  const std::vector<char> halts = {0, 1, 0, 0, 1};
  tests::check_gradient(
      "step_weights",
      [&](const Pass&, const std::vector<Var>& x) { return step_weights(x[0], x[1], halts); },
      {tests::random_tensor({5, 1}, 1), tests::random_tensor({5, 1}, 2)});
}

}  // namespace
}  // namespace weft::layers::halting_gradient_test
