#include <cmath>

#include "layers/universal/halting.h"
#include "tests/closeness.h"
#include "tests/layers/drawn_weights.h"

namespace weft::layers::halting_contract_test {
namespace {

UniversalSettings acting(Index steps) {
  UniversalSettings settings;
  settings.steps = steps;
  settings.halting = Halting::act;
  return settings;
}

/// Weights of a position whose probability of halting is p at every step.
std::vector<double> weights_at(double p, Index limit) {
  HaltingUnit unit(acting(limit), 2);
  DrawnWeights<HaltingUnit> drawn(unit, 0);
  for (const auto& slot : drawn.arena().slots())
    if (slot.name == "bias") drawn.arena().value(slot)[0] = Real(std::log(p / (1 - p)));
  std::vector<double> weights;
  Var spent(Tensor({1, 1}, 0));
  for (Index t = 1; t <= limit; ++t) {
    const auto decision = unit.decide(Pass(), Var(Tensor({1, 2}, 1)), spent, t);
    weights.push_back(double(core::scalar(decision.weights.value())));
    spent = autograd::add(spent, decision.weights);
    if (decision.halts->front()) break;
  }
  return weights;
}

TEST(HaltingUnit, gives_steps_weights_that_sum_to_one) {
  const double tolerance = 10 * tests::epsilon;
  const auto expect = [&](const std::vector<double>& actual, const std::vector<double>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance);
  };
  expect(weights_at(0.3, 9), {0.3, 0.3, 0.3, 0.1});
  expect(weights_at(0.3, 3), {0.3, 0.3, 0.4});  // the limit takes the remainder too
  expect(weights_at(0.995, 9), {1});
  double mixed = 0;
  for (const double w : weights_at(0.3, 9)) mixed += (1 - mixed) * w;
  EXPECT_NEAR(mixed, 0.6913, 1e-5);
}

}  // namespace
}  // namespace weft::layers::halting_contract_test
