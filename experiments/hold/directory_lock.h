#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/hold/claim.h"

namespace weft::experiments {

/// A directory held by this process alone while this lives: by flock on the file "lock" in it where
/// the file system has that, and by a claim (claim.h), which also works where it has not. The file
/// "lock" is not removed.
class DirectoryLock {
 public:
  static constexpr const char* file_name = "lock";

  /// Nothing when another process holds it; `holder` then says which: "process 12 on host". An
  /// Error when the files cannot be made, or the file system has neither locks nor hard links.
  static std::optional<DirectoryLock> take(const std::filesystem::path& directory,
                                           std::string& holder);

  /// Whether a process holds the directory. One on another machine that was killed without a lock
  /// counts as holding it for ten minutes.
  static bool is_held(const std::filesystem::path& directory);

  /// Whether a file in a directory belongs to its lock.
  static bool is_own_file(const std::string& name);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

  /// An Error (Fault::checkpoint) when another process has taken the directory over: what this one
  /// would write is no longer wanted.
  void require_held() const;

 private:
  DirectoryLock(std::filesystem::path directory, int file)
      : directory_(std::move(directory)), file_(file) {}

  std::filesystem::path directory_;
  int file_;
  std::optional<Claim> claim_;
};

}  // namespace weft::experiments
