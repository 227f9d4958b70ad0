#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/console/command_line.h"
#include "experiments/train/loaded_model.h"

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

/// A model and how its tokens are written.
struct TextModel {
  LoadedModel saved;
  std::function<std::vector<core::Token>(std::string_view)> encode;
  std::function<std::string(std::span<const core::Token>)> decode;
  std::optional<core::ImageForm> image = {};  ///< of a model of images; it has no encode and decode
};
/// The same without the data, whose alphabet or form of images is in the checkpoint; a checkpoint
/// without either, or a model that generates from a source, needs the data after all.
TextModel load_text_model(const CommandLine& line);

}  // namespace weft::experiments
