#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/arrays/shape.h"

namespace weft::experiments {

/// An array of a safetensors file, as its header describes it.
struct SafetensorsArray {
  std::string type;  ///< "F32", "F64", "F16", "BF16"
  core::Shape shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes after the header
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsArray> arrays;
  std::map<std::string, std::string> texts;
};

/// Reads the JSON of a header. Every array is consistent in itself: its place is as large as its
/// shape says; no name comes twice. Entries are taken one by one as they are parsed, without what
/// does not belong to them, so that memory follows the names and texts that the header holds. An
/// Error (Fault::checkpoint) names `path` and what is wrong.
SafetensorsHeader parse_safetensors_header(const std::string& json,
                                           const std::filesystem::path& path);

/// The bytes of a number; nothing for types that weft does not read.
std::optional<std::uint64_t> bytes_of_type(const std::string& type);

[[noreturn]] void refuse_safetensors(const std::filesystem::path& path, const std::string& why);

}  // namespace weft::experiments
