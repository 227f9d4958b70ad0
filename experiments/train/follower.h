#pragma once

#include "experiments/train/trainer.h"

namespace weft::experiments {

/// What a rank other than the first does of a training run: its part of what the first one, which
/// has the files and the terminal, begins.  -> the exit code of all
int follow_training(Trainer& trainer);

}  // namespace weft::experiments
