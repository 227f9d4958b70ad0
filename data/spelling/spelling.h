#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/spelling/alphabet.h"
#include "data/spelling/tokenizer.h"

namespace weft::data {

/// How tokens are written: each is a byte, a character of an alphabet or a piece of a tokenizer.
class Spelling {
 public:
  static Spelling bytes() { return Spelling(); }
  explicit Spelling(Alphabet alphabet) : alphabet_(std::move(alphabet)) {}
  explicit Spelling(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}

  core::Index vocabulary() const;
  /// Text to tokens; a character outside the alphabet is an error that names it.
  std::vector<core::Token> encode(std::string_view text) const;
  std::string decode(std::span<const core::Token> tokens) const;

  /// What a token is: byte, character or piece.
  std::string unit() const;
  bool is_bytes() const { return !alphabet_ && !tokenizer_; }
  /// How many bytes of text a token stands for.
  core::Index bytes_of(core::Token token) const;

  const std::optional<Alphabet>& alphabet() const { return alphabet_; }
  const std::optional<Tokenizer>& tokenizer() const { return tokenizer_; }

 private:
  Spelling() = default;

  std::optional<Alphabet> alphabet_;
  std::optional<Tokenizer> tokenizer_;
};

}  // namespace weft::data
