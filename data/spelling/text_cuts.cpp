#include "data/spelling/text_cuts.h"

#include "data/spelling/utf8.h"

namespace weft::data {

void cut_text(std::string_view text, const std::function<void(std::string_view)>& words,
              const std::function<void(char)>& byte) {
  constexpr std::size_t long_enough = longest_stretch / 2;
  constexpr char32_t shown_space = 0x2581;
  std::size_t begin = 0, at = 0;
  const auto end_stretch = [&] {
    if (at > begin) words(text.substr(begin, at - begin));
    begin = at;
  };
  char32_t before = 0;
  while (at < text.size()) {
    std::size_t next = at;
    const auto character = read_character(text, next);
    if (!character || *character == 0 || *character == '\n' || *character == shown_space) {
      end_stretch();
      for (next = character ? next : at + 1; at < next; ++at) byte(text[at]);
      begin = at;
      before = 0;
      continue;
    }
    const bool new_word = *character == ' ' && before != ' ';
    if ((new_word && at - begin >= long_enough) || next - begin > longest_stretch) end_stretch();
    before = *character;
    at = next;
  }
  end_stretch();
}

/// A stretch that ends before the last character is one of the whole text, and so is a line end:
/// what follows is cut without looking back.
std::size_t settled_text(std::string_view text) {
  constexpr std::size_t short_tail = std::size_t(1) << 16;
  const std::size_t line_end = text.rfind('\n');
  const std::size_t begin = line_end == text.npos ? 0 : line_end + 1;
  if (text.size() - begin < short_tail) return begin;
  std::size_t at = begin, certain = begin;
  const auto pass = [&](std::size_t count) {
    at += count;
    if (at + longest_character <= text.size()) certain = at;
  };
  cut_text(
      text.substr(begin), [&](std::string_view words) { pass(words.size()); },
      [&](char) { pass(1); });
  return certain;
}

}  // namespace weft::data
