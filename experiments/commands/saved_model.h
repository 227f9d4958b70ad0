#pragma once

#include <string>
#include <vector>

#include "experiments/command_line.h"
#include "experiments/training.h"

namespace weft::experiments {

/// Declares --ckpt, with which eval and generate choose a checkpoint.
void add_checkpoint_option(CommandLine& line);

/// The model of the run named by the first word, with section.key=value words over its config.
/// Damaged checkpoints that were passed over are reported on standard error.
Inference load_saved_model(const CommandLine& line);

}  // namespace weft::experiments
