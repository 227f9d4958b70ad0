#include "data/tokens/packed_tokens.h"

#include <algorithm>

#include "core/error.h"

namespace weft::data {

core::Index token_width(core::Index vocabulary) {
  return vocabulary > 1 << 16 ? 4 : vocabulary > 1 << 8 ? 2 : 1;
}

PackedTokens::PackedTokens(core::Index vocabulary) {
  const core::Index width = token_width(vocabulary);
  if (width == 4) tokens_.emplace<std::vector<std::int32_t>>();
  if (width == 2) tokens_.emplace<std::vector<std::uint16_t>>();
}

void PackedTokens::reserve(core::Index size) {
  std::visit([size](auto& tokens) { tokens.reserve(std::size_t(size)); }, tokens_);
}

void PackedTokens::append(std::span<const core::Token> tokens) {
  std::visit(
      [&](auto& stored) {
        for (const core::Token token : tokens)
          stored.push_back(typename std::decay_t<decltype(stored)>::value_type(token));
      },
      tokens_);
}

void PackedTokens::append(const PackedTokens& other) {
  std::visit(
      [&]<class Stored>(Stored& stored) {
        const auto* added = std::get_if<Stored>(&other.tokens_);
        core::require(added, "packed tokens: two vocabularies cannot be joined");
        stored.insert(stored.end(), added->begin(), added->end());
      },
      tokens_);
}

void PackedTokens::clear() {
  std::visit([](auto& tokens) { tokens.clear(); }, tokens_);
}

core::Index PackedTokens::size() const {
  return std::visit([](const auto& tokens) { return core::Index(tokens.size()); }, tokens_);
}

core::Index PackedTokens::capacity() const {
  return std::visit([](const auto& tokens) { return core::Index(tokens.capacity()); }, tokens_);
}

void PackedTokens::read(core::Index begin, std::span<core::Token> out) const {
  core::require(begin >= 0 && begin + core::Index(out.size()) <= size(),
                "packed tokens: ", out.size(), " tokens from ", begin, " on are not among ",
                size());
  std::visit(
      [&](const auto& tokens) { std::copy_n(tokens.begin() + begin, out.size(), out.begin()); },
      tokens_);
}

std::span<const std::byte> PackedTokens::bytes() const {
  return std::visit([](const auto& tokens) { return std::as_bytes(std::span(tokens)); }, tokens_);
}

}  // namespace weft::data
