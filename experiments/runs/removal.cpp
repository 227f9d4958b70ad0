#include "experiments/runs/removal.h"

#include "experiments/checkpoint/slimming.h"
#include "experiments/hold/directory_lock.h"
#include "experiments/run/run_directory.h"

namespace weft::experiments {

namespace fs = std::filesystem;

Removal remove_run(const fs::path& directory) {
  const RunFiles files = find_run(directory);
  {
    std::string holder;
    const auto lock = DirectoryLock::take(directory, holder);
    if (!lock) return Removal::in_use;
    delete_run(files);
    fs::remove(directory / DirectoryLock::file_name);
  }
  std::error_code not_empty;
  fs::remove(directory, not_empty);
  return not_empty ? Removal::others_remain : Removal::removed;
}

std::optional<core::Index> slim_run(const fs::path& directory) {
  const RunFiles files = find_run(directory);
  std::string holder;
  const auto lock = DirectoryLock::take(directory, holder);
  if (!lock) return std::nullopt;
  return slim_checkpoints(files.checkpoints());
}

}  // namespace weft::experiments
