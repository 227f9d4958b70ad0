#pragma once

#include <string>
#include <vector>

#include "experiments/console/command_line.h"
#include "experiments/predict/text_model.h"

namespace weft::experiments {

/// The split of this name, as --split gives it.
data::Split split_named(const std::string& name);

/// Declares --ckpt, with which eval and generate choose a checkpoint.
void add_checkpoint_option(CommandLine& line);

/// The checkpoint of the run named by the first word. Damaged ones that were passed over are
/// reported on standard error.
Checkpoint load_saved_checkpoint(const CommandLine& line);

/// The model of the run named by the first word, with section.key=value words over its config, and
/// `more` such words over those.
LoadedModel load_saved_model(const CommandLine& line, const std::vector<std::string>& more = {});

/// The same without the data, where the checkpoint says how its tokens are written.
TextModel load_text_model(const CommandLine& line);

/// The config of a checkpoint with section.key=value words over it; sets the number of threads.
RunConfig config_of(const Checkpoint& checkpoint, const std::vector<std::string>& overrides);

}  // namespace weft::experiments
