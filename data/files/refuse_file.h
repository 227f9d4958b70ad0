#pragma once

#include <string>

#include "core/error.h"

namespace weft::data {

/// Says of a file why it cannot be read and what to do, as bad data.
template <class... Parts>
[[noreturn]] void refuse_file(const std::string& path, const Parts&... parts) {
  throw core::Error(core::Fault::data, core::message_of("'", path, "' ", parts...));
}

}  // namespace weft::data
