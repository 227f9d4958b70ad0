#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/digest.h"
#include "core/real.h"

namespace weft::core {

/// XXH3-128 as 32 hexadecimal digits, as printed by xxh128sum.
std::string xxh3_128(std::string_view text);

/// What is appended to an HDF5 image: a line of text with the XXH3-128 of everything
/// before it. HDF5 readers ignore bytes after the end of their data; with the line a file proves
/// itself whole without any other file.
std::string seal_of(std::span<const std::byte> image);
/// The same of a digest that got everything before it.
std::string seal_of(const Digest& image);

/// A file that the system does not let us read now: that says nothing about what is in it.
class Unreadable : public Error {
 public:
  using Error::Error;
};

/// The result of one pass over a file.
struct SealCheck {
  Index bytes = 0;
  std::string xxh3_128 = {};  // of the whole file, seal included
  std::string problem = {};   // why the file is not whole; empty when it is
};

/// Unreadable (Fault::checkpoint) when the file is there but cannot be opened.
SealCheck check_seal(const std::filesystem::path& path);

}  // namespace weft::core
