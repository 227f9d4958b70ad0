#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// One checkpoint is one HDF5 file followed by its seal (core/files/file_seal.h), written as a
/// whole and never changed again. Arrays lie at their names, uncompressed, in the program's own
/// precision:
///   /params/NAME  /optim/m/NAME  /optim/v/NAME  /states/NAME  /memory/NAME
/// Facts are attributes of their groups (/rng, /data, /train, /meta); /meta also has step, config,
/// validation and the format's version.
struct WrittenCheckpoint {
  std::string xxh3_128;  // of the whole file
  core::Index bytes = 0;
};

/// Writes to a temporary name, fsyncs, renames. On failure an Error (Fault::checkpoint), and what
/// was at `path` before is untouched.
WrittenCheckpoint write_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot,
                                   std::optional<double> validation = {});

/// Reads a file that is known to be complete.
Checkpoint read_checkpoint(const std::filesystem::path& path);

/// Throws an Error (Fault::checkpoint) that says what is wrong unless the file is whole.
void verify_checkpoint(const std::filesystem::path& path);

/// verify_checkpoint, then read_checkpoint: for a file named by the user.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace weft::experiments
