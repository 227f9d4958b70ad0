#pragma once

#include <string>
#include <string_view>

namespace weft::data {

/// The XXH3-128 of some bytes as 32 hexadecimal digits.
std::string fingerprint_of(std::string_view bytes);

}  // namespace weft::data
