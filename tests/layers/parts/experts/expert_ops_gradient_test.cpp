#include "layers/parts/experts/expert_ops.h"
#include "tests/gradient_check.h"
#include "tests/random_values.h"

namespace weft::layers::expert_ops_gradient_test {
namespace {

/// Choices of 9 rows in sequences of 3, of which the last has one real row.
SharedChoice sample_choice(const Tensor& probabilities, const ChoiceRule& rule) {
  Sequences rows = Sequences::self(3, 3, true);
  rows.key_lengths = std::make_shared<std::vector<Index>>(std::vector<Index>{3, 3, 1});
  return std::make_shared<const ExpertChoice>(
      choose_experts(probabilities, rule, rows_in_order(rows)));
}

const std::vector<ChoiceRule> rules{{.choices = 1},
                                    {.choices = 2, .gate = {.normalise = true}},
                                    {.choices = 2, .capacity = 2},
                                    {.choices = 3, .capacity = 3, .gate = {.normalise = true}}};

TEST(ExpertGates, gradient) {
  for (const ChoiceRule& rule : rules) {
    const Tensor p = autograd::softmax(Var(tests::random_tensor({9, 4}, 1))).value();
    const SharedChoice choice = sample_choice(p, rule);
    tests::check_gradient("expert_gates",
                          [&](const Pass&, const std::vector<Var>& in) {
                            return expert_gates(in[0], choice, rule.gate);
                          },
                          {p});
  }
}

TEST(ExpertBalance, gradient) {
  const Tensor p = autograd::softmax(Var(tests::random_tensor({9, 4}, 1))).value();
  const SharedChoice choice = sample_choice(p, {.choices = 2, .capacity = 1});
  tests::check_gradient(
      "expert_balance",
      [&](const Pass&, const std::vector<Var>& in) { return expert_balance(in[0], choice, 0.3); },
      {p});
}

TEST(ExpertProducts, gradient) {
  for (const ChoiceRule& rule : rules) {
    const SharedChoice choice = sample_choice(tests::random_tensor({9, 4}, 1), rule);
    Parameter in({4, 5, 6}, Init::zeros()), in_bias({20}, Init::zeros()),
        out({4, 6, 5}, Init::zeros()), out_bias({24}, Init::zeros());
    tests::check_gradient(
        "expert_products",
        [&](const Pass&, const std::vector<Var>& given) {
          return expert_products(given[0], given[1], choice, {in, in_bias, out, out_bias});
        },
        {tests::random_tensor({9, 6}, 2), tests::random_tensor({9, rule.choices}, 3)},
        {&in, &in_bias, &out, &out_bias});
  }
}

}  // namespace
}  // namespace weft::layers::expert_ops_gradient_test
