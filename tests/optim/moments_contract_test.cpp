#include <algorithm>
#include <map>

#include "tests/optim/given_rule.h"
#include "tests/optim/sample_parameters.h"

namespace weft::optim::moments_contract_test {
namespace {

using core::Index;
using core::Real;

std::vector<std::string> names_of(Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const core::NamedArray& moment : optimizer.moments()) names.push_back(moment.name);
  return names;
}

void take_steps(SampleParameters& sample, Optimizer& optimizer, Index from, Index to) {
  for (Index step = from; step < to; ++step) {
    sample.draw_gradients(step);
    optimizer.step(sample.arena, {step, 1e-2, 0.7});
  }
}

std::map<std::string, std::vector<Real>> saved(Optimizer& optimizer) {
  std::map<std::string, std::vector<Real>> arrays;
  for (const core::NamedArray& moment : optimizer.moments())
    arrays[moment.name].assign(moment.values.begin(), moment.values.end());
  return arrays;
}

TEST(Moments, of_adam_are_two_for_each_parameter) {
  SampleParameters sample;
  const auto optimizer = make_optimizer({.kind = "adam"}, sample.arena);
  EXPECT_EQ(names_of(*optimizer),
            (std::vector<std::string>{"m/table", "m/bias", "m/matrix", "m/number", "v/table",
                                      "v/bias", "v/matrix", "v/number"}));
  EXPECT_EQ(optimizer->bytes(), 2 * sample.arena.size() * Index(sizeof(Real)));
}

TEST(Moments, of_sgd_exist_only_with_momentum) {
  SampleParameters sample;
  const auto heavy = make_optimizer({.kind = "sgd", .momentum = 0.9}, sample.arena);
  EXPECT_EQ(names_of(*heavy),
            (std::vector<std::string>{"m/table", "m/bias", "m/matrix", "m/number"}));
  EXPECT_EQ(heavy->bytes(), sample.arena.size() * Index(sizeof(Real)));
  const auto light = make_optimizer({.kind = "sgd", .momentum = 0}, sample.arena);
  EXPECT_TRUE(light->moments().empty());
  EXPECT_EQ(light->bytes(), 0);
}

TEST(Moments, begin_at_zero_with_the_shape_of_their_parameter) {
  SampleParameters sample;
  const auto optimizer = make_optimizer({}, sample.arena);
  const std::vector<core::NamedArray> moments = optimizer->moments();
  const auto& slots = sample.arena.slots();
  for (std::size_t i = 0; i < moments.size(); ++i) {
    EXPECT_EQ(moments[i].shape, slots[i % slots.size()].shape);
    EXPECT_EQ(Index(moments[i].values.size()), moments[i].shape.size());
    EXPECT_TRUE(std::ranges::all_of(moments[i].values, [](Real x) { return x == 0; }));
  }
}

TEST(Moments, restored_into_a_new_optimizer_continue_bit_for_bit) {
  for (const char* kind : {"adam", "adamw", "sgd", "adagrad"}) {
    const GivenRule settings{.kind = kind, .weight_decay = 0.1};
    SampleParameters straight, first, second;
    const auto whole = make_optimizer(settings, straight.arena);
    take_steps(straight, *whole, 0, 10);

    const auto before = make_optimizer(settings, first.arena);
    take_steps(first, *before, 0, 5);
    std::ranges::copy(first.values(), second.arena.values().begin());
    const auto after = make_optimizer(settings, second.arena);
    const auto arrays = saved(*before);
    for (const core::NamedArray& moment : after->moments())
      std::ranges::copy(arrays.at(moment.name), moment.values.begin());
    take_steps(second, *after, 5, 10);

    EXPECT_EQ(straight.values(), second.values()) << kind;
    EXPECT_EQ(saved(*whole), saved(*after)) << kind;
  }
}

}  // namespace
}  // namespace weft::optim::moments_contract_test
