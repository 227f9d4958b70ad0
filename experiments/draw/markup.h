#pragma once

#include <string>
#include <string_view>

namespace weft::experiments {

/// Text inside HTML or SVG: signs of markup are spelled out, control characters become spaces, and
/// bytes that are no UTF-8 the sign for those.
std::string escaped(std::string_view text);
/// The same with line breaks kept, for <pre>.
std::string escaped_lines(std::string_view text);

/// How many characters a text in UTF-8 has.
std::size_t letters_of(std::string_view text);
/// At most `most` characters, the last of which is … where some are left out.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace weft::experiments
