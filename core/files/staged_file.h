#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/error.h"
#include "core/real.h"

namespace weft::core {

/// A file that is written piece by piece and takes the place of another one as a whole: until
/// `commit` it is a temporary file in the same directory, which goes with this object. A crash, a
/// kill or a full disk at any moment leaves either the old contents or the new. A failure is an
/// Error that says why and what to do.
class StagedFile {
 public:
  explicit StagedFile(const std::filesystem::path& path, Fault fault = Fault::output);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Where the file is until it is committed.
  const std::filesystem::path& temporary() const { return temporary_; }
  void append(std::span<const std::byte> bytes);
  /// Throws unless files may be `size` bytes long here; takes no room. The file must be empty.
  void check_length(Index size);
  /// Makes what was appended survive a crash of the system. Nothing can be appended then.
  void sync();
  /// Puts the file in its place, synced before.
  void commit();

 private:
  void check(int error);

  std::filesystem::path path_, temporary_;
  Fault fault_;
  int file_ = -1;
};

}  // namespace weft::core
