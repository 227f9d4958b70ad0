#pragma once

#include <string>

#include "core/fields.h"
#include "layers/attention/contract/rows.h"

namespace weft::layers {

/// Which global tokens a sequence has: one for the whole, and one for each of its sentences, blocks
/// of `every` tokens or what a separator token ends.
struct GlobalTokens {
  Index every = 27;
  std::string by = "blocks";
  Index separator = 0;

  void fields(core::Fields& field);
};

/// Rows: the global tokens, then the tokens. The first global token begins with one learned vector,
/// all others with another.
class GlobalRows final : public RowRule {
 public:
  explicit GlobalRows(const GlobalTokens& globals) : globals_(globals) {}

  RowLayout layout(Index tokens) const override;
  RowLayout layout(std::span<const core::Token> tokens) const override;
  Index start_vectors() const override { return 2; }
  std::string words() const override;

 private:
  GlobalTokens globals_;
};

}  // namespace weft::layers
