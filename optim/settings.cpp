#include "optim/settings.h"

#include "core/error.h"

namespace weft::optim {
namespace {

// A mean whose memory is 1 would never learn; float tells 0.999999 from 1, but not much more.
const core::Range memory = core::between(0, 0.999999);
const core::Range rate = core::between(0, 1000);

}  // namespace

void OptimSettings::fields(core::Fields& fields) {
  fields.choice("kind", kind,
                "adamw: decay apart from the gradient; the others: decay added to the gradient",
                {"adam", "adamw", "sgd", "adagrad"});
  fields.number("lr", lr, "peak learning rate", rate);
  if (is_adam()) {
    fields.number("beta1", beta1, "memory of the mean gradient", memory);
    fields.number("beta2", beta2, "memory of the mean squared gradient", memory);
    fields.number("eps", eps, "added to the root of the mean square", core::between(1e-30, 1));
  } else if (kind == "adagrad") {
    fields.number("eps", eps, "added to the root of the summed squares", core::between(1e-30, 1));
    fields.number("tensor_clip", tensor_clip,
                  "a tensor whose gradient is longer takes a step shorter by that ratio, 0 = off",
                  core::between(0, 1e30));
  } else {
    fields.number("momentum", momentum, "memory of the velocity, 0 = none", memory);
  }
  fields.number("weight_decay", weight_decay, "pull on matrices (never vectors) towards zero",
                core::between(0, 1000));
  fields.number("clip", clip, "largest global gradient norm, 0 = off", core::between(0, 1e30));
  fields.integer("warmup", warmup, "steps in which the learning rate climbs to lr",
                 core::between(0, 1e12));
  fields.choice("schedule", schedule, "the learning rate after the warm-up",
                {"constant", "cosine", "linear", "rsqrt"});
  if (falls_to_final_lr()) {
    fields.number("final_lr", final_lr, "learning rate at the end of the run", rate);
    if (final_lr > lr)
      fields.problem("final_lr", core::message_of("must be at most lr, which is ", lr));
  }
  if (kind == "adamw" && lr * weight_decay >= 1)
    fields.problem("weight_decay",
                   core::message_of("times lr must stay below 1, or a step would flip the signs of "
                                    "the weights; lr is ",
                                    lr));
}

}  // namespace weft::optim
