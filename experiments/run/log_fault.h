#pragma once

#include <filesystem>

#include "core/error.h"
#include "core/files/durable_file.h"

namespace weft::experiments {

/// A log that cannot be opened, repaired, appended to or synced, with the reason of the system.
[[noreturn]] inline void fail_to(const char* what, const std::filesystem::path& path, int error) {
  throw core::Error(core::Fault::checkpoint, core::message_of("cannot ", what, " ", path.string(),
                                                              ": ", core::explain_errno(error)));
}

}  // namespace weft::experiments
