#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/checkpoint/safetensors.h"
#include "experiments/train/trainer.h"

namespace weft::experiments {

/// The contents of an exported model: parameters under their names, states under "states/NAME", and
/// texts: its config, how tokens are written (units, alphabet), the names of classes and what else
/// it needs to read a text, and as JSON what a reader must know of the model.
struct ExportedModel {
  std::vector<ConstNamedArray> arrays;  ///< views into the checkpoint
  std::map<std::string, std::string> texts;
};
ExportedModel exported_model(const Checkpoint& checkpoint, const RunConfig& config);

/// Writes it in the format that the ending names, .safetensors or .npz; another ending is an Error.
void write_model(const ExportedModel& model, const std::filesystem::path& path);
/// The same check before any work is done.
void check_ending(const std::filesystem::path& path);

/// Old names to new ones, a pair on each line; # begins a comment.
std::map<std::string, std::string> read_rename_map(const std::filesystem::path& path);

/// The result of an import.
struct ImportReport {
  Index matched = 0;
  std::vector<std::string>
      differences;  ///< one line each: "head.weight: [65,128] in the model, ..."
};

/// Fills the model from a file, by name and shape. With any difference nothing is changed, unless
/// `partial`: then what matches is taken and the rest of the model stays as it is.
/// `turned`: names in the file of matrices that have to be transposed.
ImportReport import_model(Trainer& trainer, const SafetensorsFile& file,
                          const std::map<std::string, std::string>& renamed, bool partial,
                          const std::set<std::string>& turned = {},
                          const std::set<std::string>& ignored = {});

/// A matrix with its rows as columns.
std::vector<core::Real> transposed(std::span<const core::Real> values, core::Index rows,
                                   core::Index columns);

}  // namespace weft::experiments
