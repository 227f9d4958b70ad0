#include "data/text/packed_tokens.h"

#include <algorithm>

#include "core/error.h"

namespace weft::data {

PackedTokens::PackedTokens(core::Index vocabulary) {
  if (vocabulary > 1 << 16) {
    tokens_.emplace<std::vector<std::int32_t>>();
  } else if (vocabulary > 1 << 8) {
    tokens_.emplace<std::vector<std::uint16_t>>();
  }
}

void PackedTokens::reserve(core::Index size) {
  std::visit([size](auto& tokens) { tokens.reserve(std::size_t(size)); }, tokens_);
}

void PackedTokens::append(core::Token token) {
  std::visit(
      [token](auto& tokens) {
        tokens.push_back(typename std::decay_t<decltype(tokens)>::value_type(token));
      },
      tokens_);
}

core::Index PackedTokens::size() const {
  return std::visit([](const auto& tokens) { return core::Index(tokens.size()); }, tokens_);
}

void PackedTokens::read(core::Index begin, std::span<core::Token> out) const {
  core::require(begin >= 0 && begin + core::Index(out.size()) <= size(),
                "packed tokens: ", out.size(), " tokens from ", begin, " on are not among ",
                size());
  std::visit(
      [&](const auto& tokens) { std::copy_n(tokens.begin() + begin, out.size(), out.begin()); },
      tokens_);
}

}  // namespace weft::data
