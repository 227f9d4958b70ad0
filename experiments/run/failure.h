#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace weft::experiments {

/// Why a process of this program failed, and what to do about it.
struct Failure {
  std::string reason, advice = {};
};

/// The environment variable with which a process asks another one to say, in a file of this name,
/// why it failed. What is printed is for people alone.
inline constexpr const char* failure_file_variable = "WEFT_FAILURE_FILE";

/// Writes the file that the environment asks for, if it does.
void record_failure(const Failure& failure);

/// Nothing when there is no such file or it is damaged.
std::optional<Failure> read_failure(const std::filesystem::path& path);

}  // namespace weft::experiments
