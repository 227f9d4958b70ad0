#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/tokens.h"

namespace weft::data {

/// Characters and their tokens: a token is the index of a character in the list.
class Alphabet {
 public:
  explicit Alphabet(std::vector<char32_t> characters);

  core::Index size() const { return core::Index(characters_.size()); }
  const std::vector<char32_t>& characters() const { return characters_; }
  std::optional<core::Token> find(char32_t character) const;

  /// UTF-8 text to tokens; a usage error names a character that is not in the list.
  std::vector<core::Token> encode(std::string_view text) const;
  std::string decode(std::span<const core::Token> tokens) const;

 private:
  std::vector<char32_t> characters_;
  std::vector<core::Token> tokens_;  // by code point, -1 where there is none
};

/// `count` characters from U+0100 on: all visible, none a control character.
Alphabet visible_alphabet(core::Index count);

}  // namespace weft::data
