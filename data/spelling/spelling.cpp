#include "data/spelling/spelling.h"

#include "core/error.h"

namespace weft::data {

core::Index Spelling::vocabulary() const {
  return alphabet_ ? alphabet_->size() : tokenizer_ ? tokenizer_->vocabulary() : 256;
}

std::vector<core::Token> Spelling::encode(std::string_view text) const {
  if (alphabet_) return alphabet_->encode(text);
  if (tokenizer_) return tokenizer_->encode(text);
  std::vector<core::Token> tokens;
  tokens.reserve(text.size());
  for (const char byte : text) tokens.push_back(std::uint8_t(byte));
  return tokens;
}

std::string Spelling::decode(std::span<const core::Token> tokens) const {
  if (alphabet_) return alphabet_->decode(tokens);
  if (tokenizer_) return tokenizer_->decode(tokens);
  std::string text;
  for (const core::Token token : tokens) {
    core::require(token >= 0 && token < 256, "token ", token, " is not a byte");
    text += char(token);
  }
  return text;
}

std::string Spelling::unit() const {
  return alphabet_ ? "character" : tokenizer_ ? "piece" : "byte";
}

core::Index Spelling::bytes_of(core::Token token) const {
  return is_bytes() ? 1 : core::Index(decode(std::span(&token, 1)).size());
}

}  // namespace weft::data
