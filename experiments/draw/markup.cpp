#include "experiments/draw/markup.h"

#include <algorithm>

#include "data/spelling/utf8.h"

namespace weft::experiments {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string escape(std::string_view text, bool keeps_lines) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char c = text[at];
    const bool whole = data::read_character(text, at).has_value();
    if (!whole) ++at;
    if (!whole)
      safe += "\xEF\xBF\xBD";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      safe += keeps_lines && c == '\n' ? '\n' : ' ';
    else
      safe += text.substr(begin, at - begin);
  }
  return safe;
}

}  // namespace

std::string escaped(std::string_view text) { return escape(text, false); }
std::string escaped_lines(std::string_view text) { return escape(text, true); }

std::size_t letters_of(std::string_view text) {
  return text.size() - std::size_t(std::ranges::count_if(text, continues));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (letters_of(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t letters = 0; end < text.size(); ++end)
    if (!continues(text[end]) && ++letters == most) break;
  return text.substr(0, end) + "…";
}

}  // namespace weft::experiments
