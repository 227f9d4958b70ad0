#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace weft::data {

/// Cuts a text into stretches of UTF-8 for `words`, at most longest_stretch long and, where a space
/// allows it, of whole words, and single bytes for `byte`: line ends, zeros, what is not UTF-8, and
/// U+2581, by which SentencePiece writes a space. Together they are the text.
void cut_text(std::string_view text, const std::function<void(std::string_view)>& words,
              const std::function<void(char)>& byte);

/// How many bytes of a text that goes on are cut as in the whole of it, and what follows as well
/// when it is cut by itself; all but a few kilobytes, and fewer than 65536 in any case.
std::size_t settled_text(std::string_view text);

inline constexpr std::size_t longest_stretch = 2000;

}  // namespace weft::data
