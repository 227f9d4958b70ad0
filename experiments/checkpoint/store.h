#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/checkpoint/checkpoint.h"
#include "experiments/checkpoint/list.h"

namespace weft::experiments {

/// The checkpoints of a run: ckpt-STEP.h5 files and two pointer files, each replaced as a whole.
/// last.json, the truth, lists every kept checkpoint, newest first, with its XXH3-128; best.json
/// lists the best ones, best first, and follows from last.json. A save writes the checkpoint and
/// reads it back, then last.json, then best.json, and only then removes what is no longer kept, so
/// that a kill at any moment leaves a list whose files are all there.
/// Each file also carries its own seal: with last.json lost or damaged the files found are checked
/// by their seals and listed again.
/// One process at a time may save (RunDirectory holds it); any number may load.
class CheckpointStore {
 public:
  struct Saved {
    std::filesystem::path path;
    core::Index bytes = 0;
    bool best = false;  // the best validation so far
  };

  /// Keeps the newest `keep_last` (at least 1) and the `keep_best` with the lowest validation.
  /// `require_held` throws when this process may no longer save; it is asked before last.json is
  /// written.
  CheckpointStore(std::filesystem::path directory, core::Index keep_last, core::Index keep_best,
                  std::function<void()> require_held = {});

  /// On failure (a full disk) an Error (Fault::checkpoint), and all that was kept is still there.
  Saved save(const Snapshot& snapshot, std::optional<double> validation = {});

  /// The newest checkpoint that is whole. Damaged ones are named in `warnings`, passed over, and
  /// forgotten together with all that are newer than the one loaded: the run goes on from there.
  /// With none left, an Error (Fault::checkpoint) names every file and what is wrong with it.
  Checkpoint load_last(std::vector<std::string>& warnings);
  /// The best checkpoint that is whole.
  Checkpoint load_best(std::vector<std::string>& warnings) const;

  /// Completes a save that was cut short: best.json and the files on disk follow from last.json.
  /// To be called by the process that may save, after a load without warnings.
  void complete_save();

  /// Newest first.
  const std::vector<CheckpointEntry>& list() const { return entries_; }
  /// Best first, at most `keep_best`.
  std::vector<CheckpointEntry> best() const;
  /// No checkpoint at all, not even a damaged one. An Error (Fault::checkpoint) when that cannot be
  /// found out.
  bool empty() const;
  const std::filesystem::path& directory() const { return directory_; }

 private:
  /// Removes those that are damaged from the front of `candidates`; the first left is the one
  /// loaded.
  Checkpoint load_first_whole(std::vector<CheckpointEntry>& candidates,
                              std::vector<std::string>& warnings) const;
  std::vector<CheckpointEntry> retained(const std::vector<CheckpointEntry>& entries) const;
  std::vector<std::string> files_on_disk() const;
  void rebuild_list(const std::string& why);
  void write_ranking() const;
  void remove_unlisted() const;

  std::filesystem::path directory_;
  core::Index keep_last_, keep_best_;
  std::function<void()> require_held_;
  std::vector<CheckpointEntry> entries_;  // newest first
  std::vector<std::string> findings_;     // what was wrong with last.json
};

}  // namespace weft::experiments
