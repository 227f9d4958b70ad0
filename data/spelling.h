#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/alphabet.h"

namespace weft::data {

/// How tokens are written: each is a byte, or a character of an alphabet.
class Spelling {
 public:
  static Spelling bytes() { return Spelling(); }
  explicit Spelling(Alphabet alphabet) : alphabet_(std::move(alphabet)) {}

  core::Index vocabulary() const { return alphabet_ ? alphabet_->size() : 256; }
  /// Text to tokens; a character outside the alphabet is an error that names it.
  std::vector<core::Token> encode(std::string_view text) const;
  std::string decode(std::span<const core::Token> tokens) const;

  /// None: tokens are bytes.
  const std::optional<Alphabet>& alphabet() const { return alphabet_; }

 private:
  Spelling() = default;

  std::optional<Alphabet> alphabet_;
};

}  // namespace weft::data
