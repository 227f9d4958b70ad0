#include "experiments/train/follower.h"

#include "experiments/train/agreement.h"
#include "experiments/train/validation.h"

namespace weft::experiments {
namespace {

/// A signal in the middle of an evaluation ends it everywhere.
void evaluate_part(const Trainer& trainer, Agreement& agreement, Index batches) {
  try {
    evaluate(trainer.model(), trainer.dataset(),
             validation_options(trainer, batches, [&] { agreement.poll(); }));
  } catch (const Interrupted&) {
  }
}

}  // namespace

int follow_training(Trainer& trainer) {
  Agreement agreement(trainer.ranks());
  while (true) {
    const Agreement::Call call = agreement.next();
    switch (call.duty) {
      case Duty::nothing:
        break;
      case Duty::count_steps:
        trainer.total_steps();
        break;
      case Duty::step:
        trainer.step();
        break;
      case Duty::evaluate:
        evaluate_part(trainer, agreement, call.argument);
        break;
      case Duty::save:
        trainer.snapshot();
        break;
      case Duty::restore:
        trainer.receive();
        break;
      case Duty::end:
        return int(call.argument);
    }
  }
}

}  // namespace weft::experiments
