#include "autograd/kept_rows.h"
#include "autograd/ops.h"
#include "core/arrays/bf16.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::bf16_products_test {
namespace {

using core::Precision;
using tests::random_tensor;
using tests::same_bits;
using Inputs = std::vector<Var>;

/// Each number rounded to bfloat16.
Tensor rounded(const Tensor& x) {
  Tensor y(x.shape());
  const core::Bf16Array copy =
      core::Bf16Array::of({x.data(), x.shape().rows(), x.shape().back(), x.shape().back()});
  for (Index i = 0; i < x.size(); ++i)
    y.write()[std::size_t(i)] = core::from_bf16(copy.view().data[i]);
  return y;
}

TEST(Bf16Products, linear_multiplies_what_its_factors_round_to) {
  Parameter weight({48, 64}, Init::zeros()), bias({48}, Init::zeros());
  Parameter coarse({48, 64}, Init::zeros()), same_bias({48}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &bias}, 1, Precision::bf16);
  tests::DrawnParameters copied({&coarse, &same_bias}, 1);
  const Tensor by_hand = rounded(weight.value());
  std::ranges::copy(by_hand.read(), coarse.writable().begin());
  const Tensor x = random_tensor({300, 64}, 2), dy = rounded(random_tensor({300, 48}, 3));
  const auto run = [&](const Tensor& in, const Parameter& w, const Parameter& b) {
    Tape tape;
    const Var leaf = tape.watch(in);
    const Var y = linear(leaf, w, &b);
    tape.sweep(y, dy);
    return std::pair(y.value(), tape.gradient(leaf));
  };
  const auto [y, dx] = run(x, weight, bias);
  const auto [exact_y, exact_dx] = run(rounded(x), coarse, same_bias);
  tests::expect_close(y.read(), tests::in_double(exact_y.read()), 1e-5);
  tests::expect_close(dx.read(), tests::in_double(exact_dx.read()), 1e-5);
  tests::expect_close(weight.gradient(), tests::in_double(coarse.gradient()), 1e-4);
  tests::expect_close(bias.gradient(), tests::in_double(same_bias.gradient()), 1e-5);
}

TEST(Bf16Products, gelu_that_keeps_bf16_has_the_same_value_and_the_gradient_at_what_it_kept) {
  Parameter bias({130}, Init::zeros());
  tests::DrawnParameters drawn({&bias});
  const Tensor x = random_tensor({600, 130}, 2, 2), dy = random_tensor({600, 130}, 3);
  const auto run = [&](const Tensor& in, Precision kept) {
    drawn.arena().zero_gradients();
    Tape tape;
    const Var leaf = tape.watch(in);
    const Var y = bias_gelu(leaf, bias, kept);
    tape.sweep(y, dy);
    return std::tuple(y.value(), tape.gradient(leaf), tests::in_double(bias.gradient()));
  };
  const auto [exact, exact_dx, exact_dbias] = run(x, Precision::float32);
  const auto [y, dx, dbias] = run(x, Precision::bf16);
  const auto [other, dx_there, dbias_there] = run(rounded(x), Precision::float32);
  EXPECT_TRUE(same_bits(y.read(), exact.read()));
  EXPECT_TRUE(same_bits(dx.read(), dx_there.read()));
  EXPECT_EQ(dbias, dbias_there);
  EXPECT_FALSE(same_bits(dx.read(), exact_dx.read()));
  tests::expect_close(dx.read(), tests::in_double(exact_dx.read()), 1e-2);
}

TEST(Bf16Products, gelu_that_keeps_bf16_takes_half_of_the_memory) {
  constexpr Index rows = 256, n = 1024;
  Parameter bias({n}, Init::zeros());
  const tests::DrawnParameters drawn({&bias});
  const auto kept_bytes = [&](Precision kept) {
    Tape tape;
    const Var leaf = tape.watch(random_tensor({rows, n}, 2));
    const Index before = core::memory_use().live;
    bias_gelu(scale(leaf, 2), bias, kept);
    return core::memory_use().live - before;
  };
  EXPECT_EQ(kept_bytes(Precision::float32), rows * n * Index(sizeof(core::Real)));
  EXPECT_EQ(kept_bytes(Precision::bf16), rows * n * Index(sizeof(core::Bf16)));
}

TEST(Bf16Products, a_weight_is_rounded_again_when_the_optimizer_may_have_changed_it) {
  Parameter weight({3, 4}, Init::zeros());
  tests::DrawnParameters drawn({&weight}, 1, Precision::bf16);
  const core::Bf16 before = weight.rounded().data[5];
  weight.writable()[5] *= 2;
  EXPECT_EQ(weight.rounded().data[5], before) << "rounded once a step";
  drawn.arena().values()[5] *= 2;
  EXPECT_EQ(core::from_bf16(weight.rounded().data[5]), 4 * core::from_bf16(before));
}

TEST(Bf16Products, float32_keeps_no_rounded_weights) {
  Parameter weight({3, 4}, Init::zeros());
  tests::DrawnParameters drawn({&weight});
  EXPECT_EQ(weight.rounded().data, nullptr);
  EXPECT_EQ(drawn.arena().rounded_bytes(), 0);
}

TEST(Bf16Products, cross_entropy_is_close_to_float32_and_the_same_on_any_number_of_threads) {
  Parameter exact({50, 32}, Init::zeros()), weight({50, 32}, Init::zeros());
  const tests::DrawnParameters in_float({&exact}), in_bf16({&weight}, 1, Precision::bf16);
  const Tensor h = random_tensor({200, 32}, 4);
  std::vector<core::Token> ids(200);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = core::Token(i * 7 % 50);
  const core::Tokens targets({200}, ids);
  const auto loss = [&](const Parameter& table, Index threads) {
    core::set_threads(threads);
    Tape tape;
    const Var leaf = tape.watch(h);
    const Var value = cross_entropy(leaf, table, nullptr, targets, 1, 64);
    tape.sweep(value);
    core::set_threads(0);
    return std::pair(value.value(), tape.gradient(leaf));
  };
  const auto [a, da] = loss(exact, 1);
  const auto [b, db] = loss(weight, 1);
  const auto [c, dc] = loss(weight, 3);
  EXPECT_NEAR(a.read()[0], b.read()[0], 0.01);
  EXPECT_TRUE(same_bits(b.read(), c.read()));
  EXPECT_TRUE(same_bits(db.read(), dc.read()));
}

}  // namespace
}  // namespace weft::autograd::bf16_products_test
