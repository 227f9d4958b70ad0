#include "autograd/profile.h"

#include "autograd/ops.h"
#include "core/scope.h"
#include "tests/drawn_parameters.h"
#include "tests/random_values.h"

namespace weft::autograd::profile_test {
namespace {

using tests::random_tensor;

TEST(Profile, attributes_arithmetic_to_the_op_and_layer_that_did_it) {
  constexpr Index rows = 20, in = 30, out = 40;
  Parameter weight({out, in}, Init::zeros()), back({in, out}, Init::zeros());
  const tests::DrawnParameters drawn({&weight, &back});
  Profile profile;
  Tape tape({.profile = &profile});
  Var x = tape.watch(random_tensor({rows, in}, 1));
  {
    const core::Scope scope("layers", 0);
    x = relu(linear(x, weight));
  }
  {
    const core::Scope scope("layers", 1);
    x = linear(linear(x, back), weight);
  }
  tape.sweep(x, Tensor(x.shape(), 1));
  // Forward one product, backward two.
  const Index product = 2 * rows * in * out;
  const auto& entries = profile.entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries.at({"layers.0", "linear"}).flops, 3 * product);
  EXPECT_EQ(entries.at({"layers.0", "linear"}).calls, 1);
  EXPECT_EQ(entries.at({"layers.0", "relu"}).flops, 0);
  EXPECT_EQ(entries.at({"layers.1", "linear"}).flops, 6 * product);
  EXPECT_EQ(entries.at({"layers.1", "linear"}).calls, 2);
  for (const auto& [key, entry] : entries) {
    EXPECT_GT(entry.forward_s, 0);
    EXPECT_GT(entry.backward_s, 0);
  }
}

TEST(Profile, counts_the_bytes_that_an_op_left_behind) {
  Profile profile;
  Tape tape({.profile = &profile});
  const Var x = tape.watch(random_tensor({1000, 100}, 1));
  profile.restart();
  const Var y = scale(x, 2);
  const Index bytes = profile.entries().at({"", "scale"}).bytes;
  EXPECT_GE(bytes, 100000 * Index(sizeof(Real)));
  EXPECT_LE(bytes, 100000 * Index(sizeof(Real)) * 9 / 8);
}

TEST(Profile, finds_ops_inside_a_recomputed_block_under_their_layer) {
  Parameter weight({8, 8}, Init::zeros());
  const tests::DrawnParameters drawn({&weight});
  Profile profile;
  Tape tape({.profile = &profile});
  Journal journal;
  Var y;
  {
    const core::Scope scope("layers", 2);
    const auto block = [&](const Pass&, const Var& x) {
      const core::Scope inner("attention");
      return linear(x, weight);
    };
    y = recompute(Pass(tape, core::Rng(1), journal), block, tape.watch(random_tensor({4, 8}, 1)));
  }
  tape.sweep(y, Tensor(y.shape(), 1));
  const Index product = 2 * 4 * 8 * 8;
  EXPECT_EQ(profile.entries().at({"layers.2", "recompute"}).flops, product);
  EXPECT_EQ(profile.entries().at({"layers.2.attention", "linear"}).flops, 3 * product);
}

TEST(Profile, forgets_what_happened_before_a_restart) {
  Parameter weight({8, 8}, Init::zeros());
  const tests::DrawnParameters drawn({&weight});
  Profile profile;
  linear(Var(random_tensor({4, 8}, 1)), weight);  // unrecorded work
  profile.restart();
  Tape tape({.profile = &profile});
  scale(tape.watch(Tensor({2}, 1)), 2);
  EXPECT_EQ(profile.entries().at({"", "scale"}).flops, 0);
}

}  // namespace
}  // namespace weft::autograd::profile_test
