#include "experiments/checkpoint/slimming.h"

#include <algorithm>

#include "core/files/durable_file.h"
#include "experiments/checkpoint/file.h"
#include "experiments/checkpoint/store.h"

namespace weft::experiments {
namespace {

namespace fs = std::filesystem;

CheckpointEntry write_slim(const fs::path& path) {
  const Checkpoint whole = load_checkpoint(path);
  Snapshot slim{whole.step, whole.config_toml, whole.facts, {}};
  slim.facts[weights_only_fact] = std::int64_t(1);
  for (const auto& [name, array] : whole.arrays)
    if (!name.starts_with("optim/")) slim.arrays.push_back({name, array.shape, array.values});
  const WrittenCheckpoint written = write_checkpoint(path, slim, whole.validation);
  return {path.filename(), whole.step, written.bytes, written.xxh3_128, whole.validation};
}

core::Index bytes_in(const fs::path& directory) {
  core::Index bytes = 0;
  for (const auto& item : fs::directory_iterator(directory))
    if (item.is_regular_file()) bytes += core::Index(item.file_size());
  return bytes;
}

}  // namespace

core::Index slim_checkpoints(const fs::path& directory) {
  CheckpointStore store(directory, 1, 1);
  if (store.list().empty()) return 0;
  const core::Index before = bytes_in(directory);
  std::vector<std::string> files{store.list().front().file};
  if (const auto best = store.best(); !best.empty() && best.front().file != files.front())
    files.push_back(best.front().file);
  // The list says how long the files are that it names: it goes before they change.
  fs::remove(directory / "best.json");
  fs::remove(directory / "last.json");
  std::vector<CheckpointEntry> entries;
  for (const std::string& file : files) entries.push_back(write_slim(directory / file));
  core::write_durably(directory / "last.json", print_checkpoint_list(entries),
                      core::Fault::checkpoint);
  CheckpointStore(directory, 1, 1).complete_save();
  return before - bytes_in(directory);
}

}  // namespace weft::experiments
