#include "data/spelling/utf8.h"

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

void append_character(std::string& text, char32_t character) {
  utf::utf_traits<char>::encode(character, std::back_inserter(text));
}

}  // namespace weft::data
