#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/real.h"

namespace weft::data {

/// The bytes of a file in order, unpacked where its first bytes say that it is compressed: gzip
/// (also dictd's .dz), xz or zstd, of one member or several. A file that is missing, damaged, cut
/// off or unpacks to more than most_unpacked_text is an Error (Fault::data) that says what to do.
class ByteStream {
 public:
  explicit ByteStream(const std::string& path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Fills `out` as far as there are bytes; fewer only at the end.
  std::size_t read(std::span<char> out);

  bool compressed() const;
  /// Bytes of the file itself, and how many of them have been read: for showing progress.
  core::Index size() const { return size_; }
  core::Index position() const;

  class Format;  ///< one for each form of compression

 private:
  void check_expansion() const;

  std::string path_;
  core::Index size_ = 0, unpacked_ = 0;
  std::unique_ptr<Format> format_;
};

/// The most bytes to which a compressed file of `file_bytes` may decompress: texts compress to a
/// tenth or so, repetitive ones to less; a file that yields much more was made to fill the memory
/// or the disk.
core::Index most_unpacked_text(core::Index file_bytes);

}  // namespace weft::data
