#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft::experiments {

/// Refuses an output that is one of the inputs, that exists although `replace` was not asked for,
/// or whose folder does not exist: before any work is done.
void check_output(const std::filesystem::path& output, const std::vector<std::string>& inputs,
                  bool replace);

}  // namespace weft::experiments
