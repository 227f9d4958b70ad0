#include "data/spelling/alphabet.h"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "core/error.h"
#include "data/spelling/utf8.h"

namespace weft::data {
namespace {

/// 'x' (U+0078), without the quoted part where it would not print.
std::string describe(char32_t character) {
  std::ostringstream text;
  if (character >= 0x20 && (character < 0x7f || character >= 0xa0)) {
    std::string printed;
    append_character(printed, character);
    text << "'" << printed << "' ";
  }
  text << "(U+" << std::hex << std::uppercase << std::setw(4) << std::setfill('0')
       << std::uint32_t(character) << ")";
  return text.str();
}

}  // namespace

Alphabet::Alphabet(std::vector<char32_t> characters) : characters_(std::move(characters)) {
  core::require(!characters_.empty(), "alphabet: needs at least one character");
  tokens_.assign(std::ranges::max(characters_) + 1, -1);
  for (std::size_t i = 0; i < characters_.size(); ++i) {
    core::Token& token = tokens_[characters_[i]];
    core::require(token < 0, "alphabet: character ", describe(characters_[i]), " occurs twice");
    token = core::Token(i);
  }
}

std::optional<core::Token> Alphabet::find(char32_t character) const {
  if (character >= tokens_.size() || tokens_[character] < 0) return {};
  return tokens_[character];
}

std::vector<core::Token> Alphabet::encode(std::string_view text) const {
  std::vector<core::Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const auto character = read_character(text, at);
    core::require(character.has_value(), "the text is not UTF-8 at byte ", begin,
                  ": give it in UTF-8");
    const auto token = find(*character);
    core::require(token.has_value(), "character ", describe(*character), " at byte ", begin,
                  " is not among the ", size(), " characters of the data: leave it out");
    tokens.push_back(*token);
  }
  return tokens;
}

std::string Alphabet::decode(std::span<const core::Token> tokens) const {
  std::string text;
  for (const core::Token token : tokens) {
    core::require(token >= 0 && token < size(), "token ", token, " is not in a vocabulary of ",
                  size());
    append_character(text, characters_[std::size_t(token)]);
  }
  return text;
}

Alphabet visible_alphabet(core::Index count) {
  std::vector<char32_t> characters(static_cast<std::size_t>(count));
  std::iota(characters.begin(), characters.end(), char32_t(0x100));
  return Alphabet(std::move(characters));
}

}  // namespace weft::data
