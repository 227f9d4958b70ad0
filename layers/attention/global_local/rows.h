#pragma once

#include <string>

#include "core/fields.h"
#include "layers/attention/contract/rows.h"

namespace weft::layers {

/// Which global tokens a sequence has: one for the whole, and one for each of its sentences, blocks
/// of `every` tokens or what a separator token ends.
struct GlobalTokens {
  enum class By { blocks, token };

  Index every = 27;
  By by = By::blocks;
  Index separator = 0;
  bool question = false;   ///< a question at the start is a global token for each of its tokens
  Index question_end = 2;  ///< the token that ends it

  void fields(core::Fields& field);
};

/// Rows: the global tokens, then the tokens. The first global token begins with one learned vector,
/// those of sentences with another. Where questions are global, their tokens come between the two
/// and belong to no sentence; everything reads them, and they read everything.
class GlobalRows final : public RowRule {
 public:
  explicit GlobalRows(const GlobalTokens& globals) : globals_(globals) {}

  RowLayout layout(Index tokens) const override { return of_blocks(tokens, 0); }
  RowLayout layout(std::span<const core::Token> tokens) const override;
  Index start_vectors() const override { return 2; }
  std::string words() const override;

 private:
  RowLayout of_blocks(Index tokens, Index question) const;

  GlobalTokens globals_;
};

}  // namespace weft::layers
