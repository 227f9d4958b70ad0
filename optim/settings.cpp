#include "optim/settings.h"

#include "core/error.h"
#include "optim/registry.h"

namespace weft::optim {

void OptimSettings::fields(core::Fields& fields) {
  const core::Range rate = core::between(0, 1000);
  fields.choice(
      "kind", kind,
      "update rule; adamw applies weight decay separately, the others add it to the gradient",
      optimizer_kinds());
  fields.number("lr", lr, "peak learning rate", rate);
  for (const OptimizerEntry& entry : optimizer_registry())
    fields.when("kind", {entry.kind}, [&] {
      OptimizerPlan configured = entry.configure(fields);
      if (entry.kind == kind) plan = std::move(configured);
    });
  fields.number("weight_decay", weight_decay, "weight decay of matrices, never of vectors",
                core::between(0, 1000));
  fields.number("clip", clip, "largest global gradient norm, 0 = off", core::between(0, 1e30));
  fields.integer("warmup", warmup,
                 "steps in which the learning rate climbs to lr; 0.1: a tenth of train.steps",
                 core::between(0, 1e12));
  fields.choice("schedule", schedule, "the learning rate after the warm-up",
                {{"constant", Schedule::constant},
                 {"cosine", Schedule::cosine},
                 {"linear", Schedule::linear},
                 {"rsqrt", Schedule::rsqrt}});
  fields.when("schedule", {"cosine", "linear"}, [&] {
    fields.number("final_lr", final_lr, "learning rate at the end of the run", rate);
    if (final_lr > lr)
      fields.problem("final_lr", core::message_of("must be at most lr, which is ", lr));
  });
  if (plan.shrinks_weights && lr * weight_decay >= 1)
    fields.problem("weight_decay",
                   core::message_of("times lr must stay below 1, or a step would flip the signs of "
                                    "the weights; lr is ",
                                    lr));
}

std::unique_ptr<Optimizer> OptimSettings::make_optimizer(
    const autograd::ParameterArena& arena) const {
  core::require(bool(plan.make), "optim: the settings of '", kind,
                "' have not been read; call fields() first");
  return plan.make(arena, weight_decay);
}

}  // namespace weft::optim
