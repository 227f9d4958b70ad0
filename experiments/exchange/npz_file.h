#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "experiments/checkpoint/checkpoint.h"

namespace weft::experiments {

/// Writes arrays as numpy reads them with np.load: a zip archive, nothing compressed, with a file
/// NAME.npy for each array, and the texts as JSON in the file weft.json. The same arrays and texts
/// give the same bytes. 4 GiB or more are an Error.
void write_npz(const std::filesystem::path& path, std::span<const ConstNamedArray> arrays,
               const std::map<std::string, std::string>& texts);

}  // namespace weft::experiments
