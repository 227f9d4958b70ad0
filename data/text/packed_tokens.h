#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/text/stored_tokens.h"

namespace weft::data {

/// Tokens in memory, in as few bytes each as the vocabulary allows: 1, 2 or 4.
class PackedTokens final : public StoredTokens {
 public:
  using Packed = std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>,
                              std::vector<std::int32_t>>;

  explicit PackedTokens(core::Index vocabulary);

  void reserve(core::Index size);
  void append(core::Token token);

  core::Index size() const override;
  void read(core::Index begin, std::span<core::Token> out) const override;
  const Packed& packed() const { return tokens_; }

 private:
  Packed tokens_;
};

}  // namespace weft::data
