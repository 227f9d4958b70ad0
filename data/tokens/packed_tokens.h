#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/tokens/stored_tokens.h"

namespace weft::data {

/// How many bytes a stored token takes: as few as the vocabulary allows, 1, 2 or 4.
core::Index token_width(core::Index vocabulary);

/// Tokens in memory, in token_width bytes each.
class PackedTokens final : public StoredTokens {
 public:
  explicit PackedTokens(core::Index vocabulary);

  void reserve(core::Index size);
  void append(core::Token token) { append(std::span(&token, 1)); }
  void append(std::span<const core::Token> tokens);
  /// The tokens of a run of the same vocabulary.
  void append(const PackedTokens& other);
  void clear();

  core::Index size() const override;
  core::Index capacity() const;
  void read(core::Index begin, std::span<core::Token> out) const override;
  /// As they are stored.
  std::span<const std::byte> bytes() const;

 private:
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::int32_t>>
      tokens_;
};

}  // namespace weft::data
