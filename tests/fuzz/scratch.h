#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace weft::fuzz {

/// A folder of this process, in memory where the system has such a place, removed at the end.
const std::filesystem::path& scratch_folder();

/// A file there with these bytes, replaced by the next of the same name.
std::filesystem::path scratch_file(const std::string& name, std::string_view bytes);

/// The same with the seal that weft appends to what it wrote itself.
std::filesystem::path sealed_file(const std::string& name, std::string_view bytes);

}  // namespace weft::fuzz
