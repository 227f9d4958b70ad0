#pragma once

#include <filesystem>

namespace weft::core {

/// Throws an Error (Fault::data) unless an HDF5 file is built as Hdf5File::in_memory builds files:
/// groups of hard links, each object reached once and at most eight groups deep; contiguous
/// numbers; single numbers and texts as attributes. Every address and size lies inside the file,
/// and what the file claims to hold is no more than its own size. Links to elsewhere, external,
/// chunked or filtered storage, shared types and cycles are refused. To be called before HDF5,
/// which may crash, hang or read other files, opens a file that could come from anywhere.
void check_hdf5_structure(const std::filesystem::path& path);

}  // namespace weft::core
