#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

/// One kept checkpoint, as a pointer file names it.
struct CheckpointEntry {
  std::string file;  // name within the directory
  core::Index step = 0;
  core::Index bytes = 0;
  std::string xxh3_128 = {};              // of the whole file
  std::optional<double> validation = {};  // lower is better

  bool operator==(const CheckpointEntry&) const = default;
};

/// The text of last.json (newest first) or best.json (best first):
///   {"format": 1, "checkpoints": [{"file", "step", "bytes", "xxh3_128", "validation"}, ...],
///    "xxh3_128": of the list}
std::string print_checkpoint_list(const std::vector<CheckpointEntry>& entries);

/// Reads such a text; an Error (Fault::checkpoint) says how it is damaged.
std::vector<CheckpointEntry> parse_checkpoint_list(const std::string& text);

/// ckpt-00001841.h5
std::string checkpoint_file_name(core::Index step);
/// The step in such a name, or none for any other name.
std::optional<core::Index> step_in_name(const std::string& file);

}  // namespace weft::experiments
