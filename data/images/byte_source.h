#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/real.h"

struct gzFile_s;  // of zlib

namespace weft::data {

using core::Index;

/// Throws a data error about a file: "'path': ...".
template <class... Parts>
[[noreturn]] void refuse_image(const std::string& path, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of("'", path, "': ", parts...));
}

/// The bytes of a file in order, unpacked where it is compressed with gzip. Bytes are appended as
/// they arrive, so that memory follows what a file holds and never what its header claims; a file
/// that goes on for more than most_unpacked is refused.
class ByteSource {
 public:
  /// A file that does not exist is a data error that says what to do: for one of a Debian package
  /// of datasets, the command that installs the package.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Appends up to `count` bytes to `to`; how many there were before the end.
  Index append(Index count, std::vector<std::uint8_t>& to);
  /// Whether nothing is left.
  bool at_end();

 private:
  void check_expansion();
  [[noreturn]] void refuse_damage();

  std::string path_;
  gzFile_s* stream_;
  Index unpacked_ = 0, most_;
};

/// How many values a compressed file of this many bytes is expected to hold: images compress well,
/// but a file that claims much more is made to fill the memory.
Index most_unpacked(Index file_bytes);

/// The whole contents of a file as they are on the disk; a missing file as in ByteSource.
std::vector<std::uint8_t> read_image_bytes(const std::string& path);

/// An error for a path that does not exist.
[[noreturn]] void refuse_missing(const std::string& path);

}  // namespace weft::data
