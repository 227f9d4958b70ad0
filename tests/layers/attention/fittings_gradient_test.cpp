#include "layers/attention/fittings/gated_norm.h"
#include "layers/attention/fittings/gates.h"
#include "layers/attention/fittings/head_norm.h"
#include "layers/attention/fittings/shared_heads.h"
#include "layers/attention/fittings/short_convolution.h"
#include "tests/gradient_check.h"

namespace weft::layers::fittings_gradient_test {
namespace {

using Inputs = std::vector<Var>;

TEST(FittingsGradient, of_gates_agrees_with_differences) {
  const Tensor x = tests::random_tensor({7, 6}, 1);
  tests::check_gradient(
      "logistic", [](const Pass&, const Inputs& in) { return logistic(in[0], Real(-3)); }, {x});
  tests::check_gradient("softplus", [](const Pass&, const Inputs& in) { return softplus(in[0]); },
                        {x});
  // A floor that some of the numbers reach.
  tests::check_gradient(
      "log_logistic",
      [](const Pass&, const Inputs& in) { return log_logistic(in[0], 4, Real(-0.25)); }, {x});
}

TEST(FittingsGradient, of_numbers_for_each_head_agrees_with_differences) {
  autograd::Parameter scale({3}, autograd::Init::zeros()), skip({3}, autograd::Init::zeros());
  tests::check_gradient(
      "scale_heads", [&](const Pass&, const Inputs& in) { return scale_heads(in[0], scale, -1); },
      {tests::random_tensor({7, 6}, 1)}, {&scale});
  tests::check_gradient("add_skipped",
                        [&](const Pass&, const Inputs& in) {
                          return add_skipped(in[0], {in[1], 2}, skip);
                        },
                        {tests::random_tensor({7, 6}, 1), tests::random_tensor({7, 9}, 2)},
                        {&skip});
}

TEST(FittingsGradient, of_the_short_convolution_agrees_with_differences) {
  for (const Index length : {1, 2, 5, 40})
    for (const Index taps : {1, 2, 4})
      for (const bool bias : {false, true}) {
        ShortConvolution conv({{"a", 3}, {"b", 2}}, taps, bias);
        autograd::Inventory inventory;
        conv.visit(inventory);
        autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training);
        core::fill_normal(arena.values(), core::Rng(1), 0.5);
        const auto packed = [&](const Pass&, const Inputs& in) {
          return conv.forward({{in[0], 1}, {in[0], 4}}, length)[0].matrix;
        };
        const auto apart = [&](const Pass&, const Inputs& in) {
          return conv.forward({{in[0], 1}, {in[1], 0}}, length)[1].matrix;
        };
        const Tensor x = tests::random_tensor({3 * length, 7}, 1);
        tests::check_gradient("short_convolution", packed, {x}, arena);
        tests::check_gradient("short_convolution", apart,
                              {x, tests::random_tensor({3 * length, 2}, 2)}, arena);
      }
}

TEST(FittingsGradient, of_the_short_convolution_over_a_past_agrees_with_differences) {
  for (const Index length : {1, 2, 5}) {
    ShortConvolution conv({{"a", 3}, {"b", 2}}, 4);
    autograd::Inventory inventory;
    conv.visit(inventory);
    autograd::ParameterArena arena(inventory, autograd::ParameterArena::Use::training);
    core::fill_normal(arena.values(), core::Rng(1), 0.5);
    const Tensor past = tests::random_tensor({3, conv.past_size()}, 3);
    tests::check_gradient(
        "short_convolution",
        [&](const Pass&, const Inputs& in) {
          return conv.forward({{in[0], 1}, {in[0], 4}}, length, past)[0].matrix;
        },
        {tests::random_tensor({3 * length, 7}, 1)}, arena);
  }
}

TEST(FittingsGradient, of_repeated_heads_agrees_with_differences) {
  for (const Index few : {1, 2, 4})
    tests::check_gradient("repeat_heads",
                          [&](const Pass&, const Inputs& in) {
                            return repeat_heads({few, 4, 3}, {{in[0], 1}, {in[1], 0}})[0].matrix;
                          },
                          {tests::random_tensor({7, 13}, 1), tests::random_tensor({7, 12}, 2)});
}

TEST(FittingsGradient, of_the_norm_of_heads_agrees_with_differences) {
  autograd::Parameter gain({3}, autograd::Init::ones());
  tests::check_gradient("norm_heads",
                        [&](const Pass&, const Inputs& in) {
                          return norm_heads({in[0], 2}, 2, gain, Real(1e-6));
                        },
                        {tests::random_tensor({7, 9}, 1)}, {&gain});
}

TEST(FittingsGradient, of_a_gate_alone_and_of_a_gated_difference_agrees_with_differences) {
  using Activation = GatedNormForm::Activation;
  for (const Activation activation : {Activation::silu, Activation::sigmoid})
    tests::check_gradient(
        "gate_heads",
        [&](const Pass&, const Inputs& in) { return gate_heads(activation, in[0], in[1]); },
        {tests::random_tensor({7, 6}, 1), tests::random_tensor({7, 6}, 2)});
  tests::check_gradient("subtract_gated",
                        [](const Pass&, const Inputs& in) { return subtract_gated(in[0], in[1]); },
                        {tests::random_tensor({7, 12}, 1), tests::random_tensor({7, 2}, 2)});
}

TEST(FittingsGradient, of_a_gated_sum_agrees_with_differences) {
  tests::check_gradient("sum_gated",
                        [](const Pass&, const Inputs& in) {
                          return sum_gated({in[0], in[1]}, {in[2], in[3]});
                        },
                        {tests::random_tensor({7, 6}, 1), tests::random_tensor({7, 6}, 2),
                         tests::random_tensor({7, 2}, 3), tests::random_tensor({7, 2}, 4)});
}

TEST(FittingsGradient, of_the_gated_norm_agrees_with_differences) {
  using Activation = GatedNormForm::Activation;
  const Tensor o = tests::random_tensor({7, 6}, 1), gate = tests::random_tensor({7, 6}, 2);
  for (const Index columns : {3, 6}) {
    autograd::Parameter gain({columns}, autograd::Init::ones());
    for (const Activation activation : {Activation::silu, Activation::sigmoid})
      for (const bool gate_first : {false, true})
        tests::check_gradient("gated_norm",
                              [&](const Pass&, const Inputs& in) {
                                return gated_norm({activation, gate_first}, in[0], in[1], gain);
                              },
                              {o, gate}, {&gain});
    tests::check_gradient(
        "gated_norm",
        [&](const Pass&, const Inputs& in) { return gated_norm({}, in[0], {}, gain); }, {o},
        {&gain});
  }
}

}  // namespace
}  // namespace weft::layers::fittings_gradient_test
