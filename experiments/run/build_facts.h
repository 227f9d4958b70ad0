#pragma once

#include <string>

namespace weft::experiments {

// What this program is, for --version and for the runs that it starts.

/// "0.1.0"
std::string version();
/// "10a74387f2", with -dirty where the sources had changed since; "unknown" outside a repository.
std::string commit();
/// "GCC 12.2.0"
std::string compiler();

}  // namespace weft::experiments
