// Builds a model from parts of the library and trains it, in a loop of one's own.
#include <weft/weft.h>

#include <cstdio>

int main() {
  using namespace weft;
  constexpr core::Index steps = 400, batch = 8, length = 64;

  // A language of random symbols in which keys announce what has to be recalled.
  const auto task = core::with_defaults(data::DataSettings{.kind = "recall", .length = length});
  const auto dataset = task.plan.make(batch, 1);

  layers::ModelSettings settings;
  settings.width = 32;
  settings.attention = {"local", "dense"};
  layers::TrainableModel model(settings, {.vocabulary = dataset->vocabulary(), .length = length});
  const auto rule = core::with_defaults(optim::OptimSettings{.kind = "adamw", .lr = 5e-3});
  const auto optimizer = rule.make_optimizer(model.arena());

  double first = 0, last = 0;
  for (core::Index step = 0; step < steps; ++step) {
    const auto update = [&](autograd::ParameterArena& arena) {
      return optim::take_step(*optimizer, arena, rule, step, steps).applied;
    };
    last = model.step({dataset->training(step)}, core::Rng(1).fold(std::uint64_t(step)), update);
    if (step == 0) first = last;
    if (step % 100 == 0) std::printf("step %3d  loss %.3f nats\n", int(step), last);
  }
  std::printf("step %3d  loss %.3f nats\n", int(steps), last);
  return last < first - 0.3 ? 0 : 1;
}
