#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace weft::core {

/// Replaces a file as a whole, so that a crash, a kill or a full disk at any moment leaves either
/// the old contents or the new. The parts, one after the other, go to a separate temporary file in
/// the same directory, are fsynced and renamed, and the directory is fsynced: of several writers
/// the last one wins, as a whole. On failure the temporary file is removed and an Error says why
/// and what to do; `fault` is Fault::checkpoint for what a run needs to be continued.
void write_durably(const std::filesystem::path& path,
                   std::initializer_list<std::span<const std::byte>> parts,
                   Fault fault = Fault::output);
void write_durably(const std::filesystem::path& path, std::string_view text,
                   Fault fault = Fault::output);

/// The ending of the temporary files, which a killed writer leaves.
inline constexpr std::string_view temporary_ending = ".tmp";

/// The whole contents of a file, or an Error (Fault::data).
std::string read_text_file(const std::filesystem::path& path);

/// Why the last system call failed, and for a full disk what to do about it.
std::string explain_errno(int error);

/// Writes all of `bytes` to an open file: 0, or the errno of the failure.
int write_fully(int descriptor, std::span<const std::byte> bytes);

/// Lets a write beyond the process's file-size limit fail like one to a full disk, rather than kill
/// the process (SIGXFSZ). To be called once when the program starts.
void ignore_file_size_signal();

}  // namespace weft::core
