#include "core/files/base64.h"

#include <algorithm>
#include <cstdint>

namespace weft::core {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? std::uint8_t(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  std::string bytes;
  while (!text.empty()) {
    const std::size_t padding = text.size() > 4        ? 0
                                : text.ends_with("==") ? 2
                                                       : text.ends_with('=');
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t digit = k + padding < 4 ? digits.find(text[k]) : 0;
      if (digit == digits.npos) return {};
      word = word << 6 | std::uint32_t(digit);
    }
    for (std::size_t k = 0; k + padding < 3; ++k) bytes += char(word >> (16 - 8 * k) & 255);
    text.remove_prefix(4);
  }
  return bytes;
}

}  // namespace weft::core
