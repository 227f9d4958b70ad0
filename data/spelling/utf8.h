#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::data {

/// The character that begins at byte `position`, which moves past it; nothing, and `position` left
/// alone, where the bytes are not UTF-8.
std::optional<char32_t> read_character(std::string_view text, std::size_t& position);

/// How much of a text that goes on ends with a whole character. What is not UTF-8 counts as whole.
std::size_t whole_characters(std::string_view text);

inline constexpr std::size_t longest_character = 4;  ///< in bytes

void append_character(std::string& text, char32_t character);

}  // namespace weft::data
