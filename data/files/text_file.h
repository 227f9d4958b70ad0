#pragma once

#include <string>

namespace weft::data {

/// A whole file in memory.
struct TextFile {
  std::string path;
  std::string bytes;
};

/// Reads a file, unpacked where it is compressed, that must exist and hold something; the error
/// says what to do.
TextFile read_text_file(const std::string& path);

}  // namespace weft::data
