#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace weft::experiments {

/// A directory held by this process alone while this lives, also on a network file system that
/// knows flock. The file "lock" in it says who holds it and is not removed.
class DirectoryLock {
 public:
  static constexpr const char* file_name = "lock";

  /// Nothing when another process holds it; `holder` then says which: "process 12 on host". An
  /// Error when the file cannot be made.
  static std::optional<DirectoryLock> take(const std::filesystem::path& directory,
                                           std::string& holder);

  /// Whether a process holds the directory; where locks do not work, that is not known: false.
  static bool is_held(const std::filesystem::path& directory);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int file) : file_(file) {}

  int file_;
};

}  // namespace weft::experiments
