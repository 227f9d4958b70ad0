#include "data/spelling/utf8.h"

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <iterator>

namespace weft::data {

namespace utf = boost::locale::utf;

std::optional<char32_t> read_character(std::string_view text, std::size_t& position) {
  const char* at = text.data() + position;
  const utf::code_point read = utf::utf_traits<char>::decode(at, text.data() + text.size());
  if (read == utf::illegal || read == utf::incomplete) return {};
  position = std::size_t(at - text.data());
  return char32_t(read);
}

std::size_t whole_characters(std::string_view text) {
  const std::size_t near_end = text.size() - std::min(text.size(), longest_character - 1);
  for (std::size_t at = near_end; at < text.size(); ++at) {
    const char* next = text.data() + at;
    const utf::code_point read = utf::utf_traits<char>::decode(next, text.data() + text.size());
    if (read == utf::incomplete) return at;
  }
  return text.size();
}

void append_character(std::string& text, char32_t character) {
  utf::utf_traits<char>::encode(character, std::back_inserter(text));
}

}  // namespace weft::data
