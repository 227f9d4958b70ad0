#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "experiments/checkpoint/checkpoint.h"
#include "experiments/checkpoint/safetensors_header.h"

namespace weft::experiments {

/// A safetensors file: 8 bytes with the header's size, a JSON header that names each array with its
/// type, shape and place, then the arrays' bytes, all little-endian and row-major.

/// Writes arrays in the given order, in the program's own precision, and texts with them. The
/// same arrays and texts give the same bytes. On failure an Error (Fault::checkpoint), and what was
/// at `path` before is untouched.
void write_safetensors(const std::filesystem::path& path, std::span<const ConstNamedArray> arrays,
                       const std::map<std::string, std::string>& texts);

/// A file opened for reading. Its header is checked as a whole before anything is believed: sizes
/// within the file, no overlap, no gap, no name twice. No allocation exceeds the file's own size.
class SafetensorsFile {
 public:
  using Array = SafetensorsArray;

  /// An Error (Fault::checkpoint) says what is wrong with the file.
  explicit SafetensorsFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, Array>& arrays() const { return header_.arrays; }
  const std::map<std::string, std::string>& texts() const { return header_.texts; }

  /// Reads an array that the file has, as many numbers as its shape says.
  void read(const std::string& name, std::span<core::Real> values) const;

 private:
  void check_layout(std::uint64_t bytes) const;

  std::filesystem::path path_;
  std::uint64_t data_ = 0;  ///< where the arrays begin
  SafetensorsHeader header_;
};

}  // namespace weft::experiments
