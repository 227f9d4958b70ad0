#pragma once

#include <string>

#include "experiments/run/run_files.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {

/// Samples of a model in training, as the section [sample] asks for them: a text that it continues,
/// or a target that it generates from a source, written to samples/STEP.txt; held-out images that
/// it completes, to samples/STEP.png.  -> a line that shows them; empty without sample.tokens
std::string write_sample(const Trainer& trainer, const RunFiles& files);

}  // namespace weft::experiments
