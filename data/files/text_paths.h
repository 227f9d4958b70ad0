#pragma once

#include <string>
#include <vector>

#include "core/real.h"

namespace weft::data {

/// The files of a text.
struct TextPaths {
  std::vector<std::string> files;  ///< never empty
  core::Index left_out = 0;  ///< files in folders that are empty, or hold zeros and so no text
};

/// The files that a path names: itself; those of a folder and of the folders in it, by name,
/// without hidden ones; those that match a pattern with * or ?; or, with commas, several of these
/// in their order. A name that exists as it is stands for itself. Where there is no file: an Error
/// (Fault::data) that says what to do.
TextPaths text_paths(const std::string& path);

}  // namespace weft::data
