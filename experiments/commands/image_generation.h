#pragma once

#include "experiments/commands/saved_model.h"
#include "experiments/evaluate/generation.h"

namespace weft::experiments {

/// Declares the options of weft generate that are about images.
void add_image_options(CommandLine& line);

/// Completes that many held-out images, or generates whole ones, and writes them as one PNG.
int generate_images(const CommandLine& line, const TextModel& model, Index count,
                    const GenerationOptions& options);

}  // namespace weft::experiments
