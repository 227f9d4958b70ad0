#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/checkpoint/safetensors.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {

/// Writes a checkpoint's parameters under their names and its states under "states/NAME", with the
/// config and, where the checkpoint knows it, how tokens are written (units, alphabet) as text
/// beside them.
void export_model(const Checkpoint& checkpoint, const std::filesystem::path& path);

/// Old names to new ones, a pair on each line; # begins a comment.
std::map<std::string, std::string> read_rename_map(const std::filesystem::path& path);

/// What an import found.
struct ImportReport {
  Index matched = 0;
  std::vector<std::string>
      differences;  ///< one line each: "head.weight: [65,128] in the model, ..."
};

/// Fills the model from a file, by name and shape. With any difference nothing is changed, unless
/// `partial`: then what matches is taken and the rest of the model stays as it is.
ImportReport import_model(Trainer& trainer, const SafetensorsFile& file,
                          const std::map<std::string, std::string>& renamed, bool partial);

}  // namespace weft::experiments
