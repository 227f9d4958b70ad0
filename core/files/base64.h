#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::core {

/// Bytes as letters, digits, + and /, for places where only text is allowed.
std::string base64(std::string_view bytes);

/// The bytes again; nothing where the text is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace weft::core
