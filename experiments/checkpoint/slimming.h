#pragma once

#include <filesystem>

#include "core/real.h"

namespace weft::experiments {

/// The fact that marks a checkpoint without the optimizer's moments.
inline constexpr const char* weights_only_fact = "meta/weights_only";

/// Reduces the checkpoints of a run to its newest and its best one, each without the optimizer's
/// moments: they can be scored, exported and started from, but not resumed. Returns the bytes
/// gained. To be called by the process that may save. A kill at any moment leaves whole
/// checkpoints, whose list is then made again by their seals.
core::Index slim_checkpoints(const std::filesystem::path& directory);

}  // namespace weft::experiments
