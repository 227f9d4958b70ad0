#include "data/spelling.h"

#include "core/error.h"

namespace weft::data {

std::vector<core::Token> Spelling::encode(std::string_view text) const {
  if (alphabet_) return alphabet_->encode(text);
  std::vector<core::Token> tokens;
  for (const char byte : text) tokens.push_back(std::uint8_t(byte));
  return tokens;
}

std::string Spelling::decode(std::span<const core::Token> tokens) const {
  if (alphabet_) return alphabet_->decode(tokens);
  std::string text;
  for (const core::Token token : tokens) {
    core::require(token >= 0 && token < 256, "token ", token, " is not a byte");
    text += char(token);
  }
  return text;
}

}  // namespace weft::data
