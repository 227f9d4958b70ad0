#pragma once

#include <filesystem>
#include <string>

#include "experiments/hold/directory_lock.h"
#include "experiments/run/run_files.h"

namespace weft::experiments {

/// How a run is to begin in its directory.
enum class RunStart { anew, resume, fresh };

/// Deletes what weft wrote of a run that this process holds; the mark of a run goes last, so that a
/// killed deletion can be repeated.
void delete_run(const RunFiles& files);

/// A run directory held for training: no other process trains there while this lives.
class RunDirectory {
 public:
  /// anew: the directory must not hold a run yet. resume: it must hold one. fresh: a run there is
  /// deleted first: the files that weft writes, nothing else. A directory with other things in it
  /// is never touched. `command` is what the user typed, for the errors that say what to type
  /// instead: "weft train configs/quickstart.toml".
  /// `init_from` is the run whose model a new run starts from, noted in its status.
  static RunDirectory open(const std::filesystem::path& directory, RunStart start,
                           const std::string& command, const std::string& init_from = {});

  const RunFiles& files() const { return files_; }
  /// An Error (Fault::checkpoint) when another process has taken the directory over; to be called
  /// before a write that says how far the run has come.
  void require_held() const { lock_.require_held(); }

 private:
  RunDirectory(RunFiles files, DirectoryLock lock)
      : files_(std::move(files)), lock_(std::move(lock)) {}

  RunFiles files_;
  DirectoryLock lock_;
};

}  // namespace weft::experiments
