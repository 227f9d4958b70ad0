#include "autograd/tape.h"

#include <cmath>
#include <memory>

#include "autograd/ops.h"
#include "core/counters.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/scope.h"
#include "tests/random_values.h"

namespace weft::autograd::tape_test {
namespace {

using tests::random_tensor;

/// x unchanged; calls `at_pullback` when the sweep comes by.
Var probe(const Var& x, std::function<void()> at_pullback) {
  return record("probe", x.value(), {x}, [at_pullback](Tensor dy) {
    at_pullback();
    return Gradients{std::move(dy)};
  });
}

template <class Action>
std::string message_when(const Action& action) {
  try {
    action();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Tape, is_not_needed_to_evaluate) {
  const Var y = relu(Var(Tensor({3}, -1)));
  EXPECT_EQ(y.tape(), nullptr);
  EXPECT_EQ(y.value().read()[0], 0);
}

TEST(Tape, adds_up_the_gradients_of_a_variable_used_more_than_once) {
  Tape tape;
  const Var x = tape.watch(Tensor({2}, 3));
  const Var y = add(add(scale(x, 2), scale(x, 5)), x);
  tape.sweep(y, Tensor({2}, 1));
  for (const Real g : tape.gradient(x).read()) EXPECT_EQ(g, 8);
}

TEST(Tape, gives_zeros_to_a_leaf_that_nothing_depends_on) {
  Tape tape;
  const Var used = tape.watch(Tensor({2}, 1)), unused = tape.watch(Tensor({3}, 1));
  tape.sweep(scale(used, 2), Tensor({2}, 1));
  EXPECT_EQ(tape.gradient(unused).shape(), Shape{3});
  for (const Real g : tape.gradient(unused).read()) EXPECT_EQ(g, 0);
}

TEST(Tape, hands_the_seed_to_a_leaf_that_is_swept_itself) {
  Tape tape;
  const Var x = tape.watch(Tensor({2}, 1));
  tape.sweep(x, Tensor({2}, 7));
  EXPECT_EQ(tape.gradient(x).read()[1], 7);
}

TEST(Tape, takes_an_empty_gradient_for_zero_and_passes_by_constants) {
  Tape tape;
  const Var x = tape.watch(Tensor({2}, 1)), y = tape.watch(Tensor({2}, 1));
  const Var constant(Tensor({2}, 1));
  const Var z = record("three", Tensor({2}, 1), {x, constant, y}, [](Tensor dy) {
    return Gradients{Tensor(), dy, dy};
  });
  tape.sweep(z, Tensor({2}, 4));
  EXPECT_EQ(tape.gradient(x).read()[0], 0);
  EXPECT_EQ(tape.gradient(y).read()[0], 4);
}

TEST(Tape, does_not_run_pullbacks_of_what_the_result_does_not_depend_on) {
  Tape tape;
  bool ran = false;
  const Var x = tape.watch(Tensor({2}, 1));
  probe(x, [&] { ran = true; });
  const Var y = scale(x, 2);
  probe(y, [&] { ran = true; });
  tape.sweep(y, Tensor({2}, 1));
  EXPECT_FALSE(ran);
}

TEST(Tape, destroys_each_pullback_as_the_sweep_passes_it) {
  Tape tape;
  std::weak_ptr<int> saved;
  const Var x = tape.watch(Tensor({2}, 1));
  const Var y = probe(x, [&] { EXPECT_TRUE(saved.expired()); });
  Var z;
  {
    const auto kept = std::make_shared<int>(1);
    saved = kept;
    z = probe(y, [kept] { EXPECT_EQ(*kept, 1); });
  }
  EXPECT_FALSE(saved.expired());
  tape.sweep(z, Tensor({2}, 1));
  EXPECT_TRUE(saved.expired());
}

TEST(Tape, frees_saved_tensors_as_the_sweep_passes) {
  constexpr Index n = 100000;
  std::vector<Index> live;
  Tape tape;
  Var x = tape.watch(random_tensor({n}, 1));
  for (int i = 0; i < 6; ++i) x = relu(probe(x, [&] { live.push_back(core::memory_use().live); }));
  tape.sweep(x, Tensor({n}, 1));
  ASSERT_EQ(live.size(), 6u);
  // The last value is held by x itself; from there on each op gives its saved value back.
  for (std::size_t i = 2; i < live.size(); ++i)
    EXPECT_LE(live[i], live[i - 1] - n * Index(sizeof(Real)));
}

TEST(Tape, runs_each_pullback_in_the_scope_of_its_op) {
  Tape tape;
  std::string path;
  Var y;
  {
    const core::Scope layer("layers", 4);
    y = probe(tape.watch(Tensor({1}, 1)), [&] { path = core::Scope::path(); });
  }
  const core::Scope elsewhere("backward");
  tape.sweep(y, Tensor({1}, 1));
  EXPECT_EQ(path, "layers.4");
  EXPECT_EQ(core::Scope::path(), "backward");
}

TEST(Tape, lets_a_pullback_write_in_place_without_touching_what_others_read) {
  Tape tape;
  const Var x = tape.watch(Tensor({4}, 1)), y = tape.watch(Tensor({4}, -1));
  const Tensor seed({4}, 1);
  tape.sweep(add(relu(y), x), seed);  // relu zeroes the gradient that it shares with x
  EXPECT_EQ(tape.gradient(y).read()[0], 0);
  EXPECT_EQ(tape.gradient(x).read()[0], 1);
  EXPECT_EQ(seed.read()[0], 1);
}

TEST(Tape, refuses_to_mix_variables_of_two_tapes) {
  Tape one, other;
  const Var x = one.watch(Tensor({2}, 1)), y = other.watch(Tensor({2}, 1));
  EXPECT_EQ(message_when([&] { add(x, y); }), "add: inputs are on different tapes");
}

TEST(Tape, refuses_to_sweep_what_is_not_its_own_or_not_of_the_right_shape) {
  Tape one, other;
  const Var x = one.watch(Tensor({2}, 1));
  EXPECT_THROW(other.sweep(x, Tensor({2}, 1)), core::Error);
  EXPECT_THROW(one.sweep(Var(Tensor({2}, 1)), Tensor({2}, 1)), core::Error);
  EXPECT_THROW(one.sweep(x, Tensor({3}, 1)), core::Error);
  EXPECT_THROW(other.gradient(x), core::Error);
}

TEST(Tape, sweeps_from_a_loss_with_gradient_one) {
  Tape tape;
  const Var x = tape.watch(Tensor({3}, 2));
  tape.sweep(sum(scale(x, 5)));
  for (const Real g : tape.gradient(x).read()) EXPECT_EQ(g, 5);
  Tape other;
  const Var y = other.watch(Tensor({2}, 1));
  EXPECT_EQ(message_when([&] { other.sweep(y); }), "sweep: a loss is one number, got shape [2]");
}

TEST(Tape, is_swept_once) {
  Tape tape;
  const Var y = scale(tape.watch(Tensor({2}, 1)), 2);
  tape.sweep(y, Tensor({2}, 1));
  EXPECT_THROW(tape.sweep(y, Tensor({2}, 1)), core::Error);
}

TEST(Tape, keeps_gradients_of_watched_variables_only) {
  Tape tape;
  const Var y = scale(tape.watch(Tensor({2}, 1)), 2);
  tape.sweep(y, Tensor({2}, 1));
  EXPECT_THROW(tape.gradient(y), core::Error);
}

TEST(Tape, names_an_op_that_returns_the_wrong_number_of_gradients) {
  Tape tape;
  const Var x = tape.watch(Tensor({2}, 1));
  const Var y = record("forgetful", Tensor({2}, 1), {x}, [](Tensor) { return Gradients{}; });
  EXPECT_EQ(message_when([&] { tape.sweep(y, Tensor({2}, 1)); }),
            "forgetful: 0 gradients for 1 inputs");
}

TEST(Tape, names_the_first_op_and_scope_that_made_a_value_non_finite) {
  Tape tape({.check_finite = true});
  const Var x = tape.watch(Tensor({2}, 1));
  const auto run = [&] {
    const Var fine = scale(x, 2);
    const core::Scope layer("layers", 7);
    const Var bad = scale(fine, Real(INFINITY));
    add(bad, fine);
  };
  EXPECT_EQ(message_when(run), "non-finite value first made by op 'scale' in layers.7");
  EXPECT_EQ(message_when([&] { scale(x, Real(NAN)); }),
            "non-finite value first made by op 'scale' in the model");
}

TEST(Tape, names_the_first_op_and_scope_that_made_a_gradient_non_finite) {
  for (const bool at_a_leaf : {false, true}) {
    Tape tape({.check_finite = true});
    const Var x = tape.watch(Tensor({2}, 1));
    Var y = at_a_leaf ? x : scale(x, 2);
    {
      const core::Scope layer("layers", 5);
      y = record("bad", y.value(), {y},
                 [](Tensor dy) { return Gradients{Tensor(dy.shape(), Real(NAN))}; });
    }
    y = scale(y, 2);
    EXPECT_EQ(message_when([&] { tape.sweep(y, Tensor({2}, 1)); }),
              "non-finite gradient first made by op 'bad' in layers.5");
  }
}

TEST(Tape, reports_divergence_as_such) {
  Tape tape({.check_finite = true});
  try {
    scale(tape.watch(Tensor({2}, 1)), Real(NAN));
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_EQ(error.fault(), core::Fault::diverged);
  }
}

}  // namespace
}  // namespace weft::autograd::tape_test
