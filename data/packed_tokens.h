#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/tokens.h"

namespace weft::data {

/// A long run of tokens in as few bytes each as the vocabulary allows: 1, 2 or 4.
class PackedTokens {
 public:
  explicit PackedTokens(core::Index vocabulary);

  void reserve(core::Index size);
  void append(core::Token token);

  core::Index size() const;
  /// Copies the tokens begin .. begin + out.size() - 1.
  void read(core::Index begin, std::span<core::Token> out) const;

 private:
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::int32_t>>
      tokens_;
};

}  // namespace weft::data
