#include "data/text/text_file.h"

#include "core/error.h"
#include "data/spelling/utf8.h"

namespace weft::data {
namespace {

template <class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) throw core::Error(core::Fault::data, core::message_of(parts...));
}

/// Calls visit(character) for every character of the file, in order.
template <class Visit>
void for_each_character(const TextFile& file, Visit visit) {
  for (std::size_t at = 0; at < file.bytes.size();) {
    const auto character = read_character(file.bytes, at);
    check(character.has_value(), "'", file.path, "' is not UTF-8 at byte ", at,
          ": convert it to UTF-8, or read it as bytes (data.units=bytes, weft data prepare --units "
          "bytes)");
    visit(*character);
  }
}

}  // namespace

Alphabet alphabet_of(const std::vector<TextFile>& files) {
  std::vector<bool> seen(0x110000);
  for (const TextFile& file : files) {
    for_each_character(file, [&seen](char32_t character) { seen[character] = true; });
  }
  std::vector<char32_t> characters;
  for (char32_t character = 0; character < seen.size(); ++character) {
    if (seen[character]) characters.push_back(character);
  }
  return Alphabet(std::move(characters));
}

void append_tokens(const TextFile& file, const Spelling& spelling, PackedTokens& tokens) {
  if (const auto& alphabet = spelling.alphabet()) {
    for_each_character(
        file, [&](char32_t character) { tokens.append(alphabet->find(character).value()); });
  } else if (spelling.tokenizer()) {
    for (const core::Token token : spelling.encode(file.bytes)) tokens.append(token);
  } else {
    for (const char byte : file.bytes) tokens.append(std::uint8_t(byte));
  }
}

}  // namespace weft::data
