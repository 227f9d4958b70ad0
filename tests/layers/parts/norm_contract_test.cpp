#include "core/error.h"
#include "layers/parts/norm.h"
#include "tests/closeness.h"
#include "tests/gradient_check.h"
#include "tests/layers/model/naive_model.h"

namespace weft::layers::norm_contract_test {
namespace {

constexpr NormKind kinds[] = {NormKind::layer, NormKind::rms, NormKind::batch};

TEST(Norm, is_layer_norm_with_gain_and_bias_or_rms_norm_with_gain) {
  for (const NormKind kind : {NormKind::layer, NormKind::rms})
    for (const Index width : {1, 7, 64}) {
      Norm norm(width, kind);
      const DrawnWeights drawn(norm);
      Weights named;
      for (const auto& [name, value] : drawn.weights()) named.emplace("norm." + name, value);
      EXPECT_EQ(named.size(), kind == NormKind::rms ? 1u : 2u);
      const Tensor x = tests::random_tensor({50, width}, 1);
      tests::expect_close(norm.forward(Pass(), Var(x)).value().read(),
                          naive_norm(named, "norm", Grid(x)).numbers, 200 * tests::epsilon);
    }
}

TEST(Norm, passes_gradients) {
  for (const NormKind kind : kinds) {
    Norm norm(7, kind);
    DrawnWeights drawn(norm);
    tests::check_gradient(
        "norm",
        [&](const Pass& pass, const std::vector<Var>& in) { return norm.forward(pass, in[0]); },
        {tests::random_tensor({9, 7}, 1)}, drawn.arena());
  }
}

/// A batch norm and its running moments.
struct BatchNorm {
  BatchNorm() { norm.visit(inventory); }
  std::vector<double> running() const {
    return tests::in_double(inventory.states()[0].state->value().read());
  }
  /// One step over the given micro-batches; `replayed` runs each once more in the sweep.
  void step(const std::vector<Tensor>& batches, bool replayed = false) {
    autograd::Journal journal;
    for (const Tensor& x : batches) {
      autograd::Tape tape;
      const Pass pass(tape, core::Rng(1), journal);
      const auto part = [&](const Pass& p, const Var& in) { return norm.forward(p, in); };
      const Var in = tape.watch(x);
      const Var y = replayed ? autograd::recompute(pass, part, in) : part(pass, in);
      tape.sweep(y, Tensor(y.shape(), 1));
    }
    journal.commit();
  }

  Norm norm{3, NormKind::batch};
  DrawnWeights<Norm> drawn{norm};
  Inventory inventory;
};

TEST(Norm, running_moments_move_a_tenth_towards_mean_and_unbiased_variance) {
  const Tensor x = tests::random_tensor({40, 3}, 1, 2.0);
  BatchNorm it;
  EXPECT_EQ(it.running(), (std::vector<double>{0, 0, 0, 1, 1, 1}));
  it.step({x});
  it.step({x});
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0, squares = 0;
    for (std::size_t r = 0; r < 40; ++r) mean += x.read()[3 * r + c] / 40.0;
    for (std::size_t r = 0; r < 40; ++r)
      squares += (x.read()[3 * r + c] - mean) * (x.read()[3 * r + c] - mean);
    EXPECT_NEAR(it.running()[c], 0.19 * mean, 1e-6);
    EXPECT_NEAR(it.running()[3 + c], 0.81 + 0.19 * squares / 39, 1e-5);
  }
}

TEST(Norm, running_moments_of_micro_batches_are_those_of_the_batch) {
  const Tensor x = tests::random_tensor({40, 3}, 1, 2.0);
  BatchNorm whole, parts;
  whole.step({x});
  parts.step({x.rows(0, 10), x.rows(10, 25), x.rows(35, 5)});
  tests::expect_close(parts.inventory.states()[0].state->value().read(), whole.running(), 1e-5);
}

TEST(Norm, running_moments_move_once_also_under_replay_and_never_in_evaluation) {
  const Tensor x = tests::random_tensor({40, 3}, 1, 2.0);
  BatchNorm plain, replayed;
  plain.step({x});
  replayed.step({x}, true);
  EXPECT_EQ(replayed.running(), plain.running());
  const auto before = plain.running();
  const Tensor y = plain.norm.forward(Pass(), Var(x)).value();
  EXPECT_EQ(plain.running(), before);
  const Weights w = plain.drawn.weights();
  std::vector<double> expected;
  for (std::size_t i = 0; i < x.read().size(); ++i)
    expected.push_back((x.read()[i] - before[i % 3]) / std::sqrt(before[3 + i % 3] + 1e-5) *
                           w.at("weight").numbers[i % 3] +
                       w.at("bias").numbers[i % 3]);
  tests::expect_close(y.read(), expected, 100 * tests::epsilon);
}

TEST(Norm, batch_statistics_let_training_see_the_future) {
  BatchNorm it;
  autograd::Tape tape;
  autograd::Journal journal;
  const Pass pass(tape, core::Rng(1), journal);
  Tensor x = tests::random_tensor({40, 3}, 1);
  const Tensor before = it.norm.forward(pass, Var(x)).value();
  x.write()[39 * 3] += 5;
  const Tensor after = it.norm.forward(pass, Var(x)).value();
  EXPECT_NE(before.read()[0], after.read()[0]);
}

}  // namespace
}  // namespace weft::layers::norm_contract_test
