#include <cmath>

#include "autograd/ops.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/scope.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/pull_back.h"

namespace weft::autograd::recompute_test {
namespace {

using tests::pull_back;
using tests::random_tensor;
using tests::same_bits;
using Inputs = std::vector<Var>;
using Block = std::function<Var(const Pass&, const Var&)>;

/// A residual layer with dropout, and its parameters.
struct Layer {
  Parameter gain{{24}, Init::ones()}, shift{{24}, Init::zeros()};
  Parameter up{{40, 24}, Init::zeros()}, bias{{40}, Init::zeros()}, down{{24, 40}, Init::zeros()};
  tests::DrawnParameters drawn{{&gain, &shift, &up, &bias, &down}};

  Var operator()(const Pass& pass, const Var& x) const {
    const core::Scope scope("layer");
    const Var inner = bias_gelu(linear(layer_norm(x, gain, shift, Real(1e-5)), up), bias);
    return add(x, dropout(pass.at("inner"), linear(inner, down), Real(0.3)));
  }
  std::vector<Real> gradients() {
    const auto all = drawn.arena().gradients();
    std::vector<Real> copy(all.begin(), all.end());
    drawn.arena().zero_gradients();
    return copy;
  }
};

TEST(Recompute, gives_the_gradients_of_the_plain_run_bit_for_bit) {
  Layer layer;
  const Tensor x = random_tensor({300, 24}, 1);
  const auto block = [&](const Pass& pass, const Var& in) {
    return layer(pass.at(2), layer(pass.at(1), in));
  };
  const auto plain =
      pull_back([&](const Pass& p, const Inputs& in) { return block(p, in[0]); }, {x});
  const auto plain_gradients = layer.gradients();
  const auto again =
      pull_back([&](const Pass& p, const Inputs& in) { return recompute(p, block, in[0]); }, {x});
  EXPECT_TRUE(same_bits(again.value.read(), plain.value.read()));
  EXPECT_TRUE(same_bits(again.gradients[0].read(), plain.gradients[0].read()));
  EXPECT_TRUE(same_bits(layer.gradients(), plain_gradients));
}

TEST(Recompute, gives_the_same_bits_when_nested) {
  Layer layer;
  const Tensor x = random_tensor({30, 24}, 1);
  const Block inner = [&](const Pass& pass, const Var& in) { return layer(pass.at(1), in); };
  const auto run = [&](bool nested) {
    const Block outer = [&](const Pass& pass, const Var& in) {
      const Var middle = nested ? recompute(pass, inner, in) : inner(pass, in);
      return layer(pass.at(2), middle);
    };
    return pull_back(
        [&](const Pass& p, const Inputs& in) {
          return nested ? recompute(p, outer, in[0]) : outer(p, in[0]);
        },
        {x});
  };
  const auto plain = run(false);
  const auto plain_gradients = layer.gradients();
  const auto nested = run(true);
  EXPECT_TRUE(same_bits(nested.gradients[0].read(), plain.gradients[0].read()));
  EXPECT_TRUE(same_bits(layer.gradients(), plain_gradients));
}

TEST(Recompute, keeps_nothing_between_forward_and_backward_but_its_input) {
  Layer layer;
  const Tensor x = random_tensor({300, 24}, 1);
  Tape tape;
  Journal journal;
  const Pass pass(tape, core::Rng(1), journal);
  Var y = tape.watch(x);
  const core::Index before = core::memory_use().live;
  y = recompute(
      pass, [&](const Pass& p, const Var& in) { return layer(p, in); }, y);
  EXPECT_LE(core::memory_use().live - before, x.size() * Index(sizeof(Real)) * 9 / 8);
}

TEST(Recompute, reads_decisions_back_and_proposes_once) {
  Journal journal;
  int made = 0;
  State seen(Tensor({1}, 0), [](auto value, auto sums) { value[0] += sums[0]; });
  const Block block = [&](const Pass& pass, const Var& in) {
    const auto factor = pass.decide("factor", [&] { return ++made; });
    pass.propose(seen, Tensor({1}, 1));
    return scale(in, Real(*factor));
  };
  const auto pulled =
      pull_back([&](const Pass& p, const Inputs& in) { return recompute(p, block, in[0]); },
                {random_tensor({3}, 1)}, journal);
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(same_bits(pulled.gradients[0].read(), pulled.upstream.read()));
  journal.commit();
  EXPECT_EQ(core::scalar(seen.value()), 1);
}

TEST(Recompute, just_runs_without_a_tape) {
  const Var x(random_tensor({3}, 1));
  const Var y = recompute(
      Pass(), [](const Pass&, const Var& in) { return scale(in, 2); }, x);
  EXPECT_EQ(y.tape(), nullptr);
  EXPECT_EQ(y.value().read()[1], 2 * x.value().read()[1]);
}

/// The message of a checked forward and backward run of f inside recompute.
std::string failure(const Block& f) {
  Tape tape({.check_finite = true});
  Journal journal;
  const Pass pass(tape, core::Rng(1), journal);
  try {
    Var y;
    {
      const core::Scope scope("layers", 3);
      y = recompute(pass, f, tape.watch(Tensor({2}, 1)));
    }
    tape.sweep(y, Tensor(y.shape(), 1));
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::diverged);
    return error.what();
  }
  return "";
}

TEST(Recompute, lets_the_op_inside_be_named_when_something_is_not_finite) {
  const auto forward = failure([](const Pass&, const Var& x) {
    const core::Scope scope("inner");
    return add(scale(x, Real(INFINITY)), x);
  });
  EXPECT_NE(forward.find("value first made by op 'scale' in layers.3.inner"), std::string::npos)
      << forward;
  const auto backward = failure([](const Pass&, const Var& x) {
    const core::Scope scope("inner");
    return add(
        record("bad", x.value(), {x}, [](Tensor dy) { return Gradients{Tensor(dy.shape(), NAN)}; }),
        x);
  });
  EXPECT_NE(backward.find("gradient first made by op 'bad' in layers.3.inner"), std::string::npos)
      << backward;
}

}  // namespace
}  // namespace weft::autograd::recompute_test
