// A step as a model makes it, of the ops alone: what it allocates, copies and adds up.
#include "autograd/ops.h"
#include "core/counters.h"
#include "core/memory.h"
#include "core/scope.h"
#include "tests/closeness.h"
#include "tests/drawn_parameters.h"
#include "tests/random_values.h"

namespace weft::autograd::training_step_test {
namespace {

constexpr Index batch = 6, length = 70, width = 48, hidden = 192, vocabulary = 61, layers = 3;

struct Layer {
  Parameter gain{{width}, Init::ones()}, shift{{width}, Init::zeros()};
  Parameter up{{hidden, width}, Init::zeros()}, bias{{hidden}, Init::zeros()};
  Parameter down{{width, hidden}, Init::zeros()}, down_bias{{width}, Init::zeros()};

  void list(std::vector<Parameter*>& all) {
    for (Parameter* p : {&gain, &shift, &up, &bias, &down, &down_bias}) all.push_back(p);
  }
  Var operator()(const Pass& pass, const Var& x, Real rate) const {
    const Var inner = bias_gelu(linear(layer_norm(x, gain, shift, Real(1e-5)), up), bias);
    if (rate == 0) return linear_onto(x, inner, down, &down_bias);
    return add(x, dropout(pass, linear(inner, down, &down_bias), rate));
  }
};

struct Model {
  Parameter table{{vocabulary, width}, Init::zeros()}, places{{length, width}, Init::zeros()};
  std::vector<Layer> stack{layers};
  Parameter gain{{width}, Init::ones()}, shift{{width}, Init::zeros()};
  tests::DrawnParameters drawn{parameters()};
  Real rate = 0;
  bool recomputed = false;

  std::vector<Parameter*> parameters() {
    std::vector<Parameter*> all{&table, &places, &gain, &shift};
    for (Layer& layer : stack) layer.list(all);
    return all;
  }

  Real step(std::uint64_t seed) {
    Tape tape;
    Journal journal;
    const Pass pass(tape, core::Rng(seed), journal);
    const auto tokens = tests::random_tokens({batch, length}, vocabulary, seed);
    Var x = reshape(embedding(pass, tokens, table), {batch * length, width});
    x = add_positions(x, places, length);
    for (Index i = 0; i < layers; ++i) {
      const core::Scope scope("layers", i);
      const auto run = [this, i](const Pass& p, const Var& in) {
        return stack[std::size_t(i)](p, in, rate);
      };
      const Pass here = pass.at(std::uint64_t(i));
      x = recomputed ? recompute(here, run, x) : run(here, x);
    }
    x = layer_norm(x, gain, shift, Real(1e-5));
    const Var loss = cross_entropy(x, table, nullptr, tokens);
    tape.sweep(loss);
    return core::scalar(loss.value());
  }
};

TEST(TrainingStep, copies_and_allocates_nothing_anew_from_the_second_on) {
  for (const Real rate : {Real(0), Real(0.2)})
    for (const bool recomputed : {false, true}) {
      SCOPED_TRACE(testing::Message() << "dropout " << rate << ", recomputed " << recomputed);
      Model model;
      model.rate = rate;
      model.recomputed = recomputed;
      core::trim_memory();
      const Index live = core::memory_use().live;
      model.step(1);
      core::reset_memory_peak();
      const Index detaches = core::counters().detaches;
      model.step(2);
      EXPECT_EQ(core::counters().detaches, detaches);
      EXPECT_EQ(core::memory_use().fresh, 0);
      EXPECT_EQ(core::memory_use().live, live);
    }
}

TEST(TrainingStep, needs_less_memory_when_layers_are_recomputed) {
  Index peak[2];
  for (const bool recomputed : {false, true}) {
    Model model;
    model.recomputed = recomputed;
    core::reset_memory_peak();
    const Index live = core::memory_use().live;
    model.step(1);
    peak[recomputed] = core::memory_use().peak - live;
  }
  EXPECT_LT(peak[1], peak[0] * 2 / 3);
}

TEST(TrainingStep, attributes_memory_to_layers) {
  Model model;
  core::reset_memory_peak();
  model.step(1);
  const auto peaks = core::peak_bytes_by_scope();
  const Index kept = batch * length * (width + 2 * hidden + width) * Index(sizeof(Real));
  for (Index i = 0; i < layers; ++i) EXPECT_GE(peaks.at("layers." + std::to_string(i)), kept);
}

TEST(TrainingStep, adds_the_gradients_of_micro_batches_up) {
  Model model;
  const auto gradients = [&] {
    const auto all = model.drawn.arena().gradients();
    return std::vector<Real>(all.begin(), all.end());
  };
  model.step(1);
  const auto first = gradients();
  model.drawn.arena().zero_gradients();
  model.step(2);
  const auto second = gradients();
  model.step(1);
  const auto both = gradients();
  for (std::size_t i = 0; i < both.size(); ++i)
    ASSERT_NEAR(both[i], double(first[i]) + second[i], 1e-6);
}

TEST(TrainingStep, gives_the_same_loss_for_the_same_stream) {
  Model model;
  model.rate = Real(0.2);
  const Real loss = model.step(4);
  EXPECT_EQ(model.step(4), loss);
  EXPECT_NE(model.step(5), loss);
}

}  // namespace
}  // namespace weft::autograd::training_step_test
