#pragma once

#include <filesystem>
#include <optional>

#include "core/real.h"

namespace weft::experiments {

enum class Removal {
  removed,
  in_use,        ///< a process holds the run: nothing was touched
  others_remain  ///< what weft wrote was deleted, other files are still there
};

/// Deletes the files that weft wrote into a run directory, and the directory if nothing is left.
Removal remove_run(const std::filesystem::path& directory);

/// Keeps only weights in the checkpoints of a run; the bytes gained, or nothing when a process
/// holds it.
std::optional<core::Index> slim_run(const std::filesystem::path& directory);

}  // namespace weft::experiments
