#pragma once

#include <optional>

#include "core/arrays/tokens.h"
#include "layers/model/token_scores.h"
#include "layers/parts/multiplicative.h"

namespace weft::layers {

/// From the last hidden vectors to logits over the vocabulary: by the token table itself, by a
/// table of its own, or by a multiplicative layer of few weights.  h: [N, n]
class OutputLayer {
 public:
  /// Shares the table of tokens, which every call brings along.
  OutputLayer() = default;
  static OutputLayer untied(Index vocabulary, Index width, Init init);
  static OutputLayer sparse(Index vocabulary, Index width, Index modules);

  /// Mean loss in nats over the counted targets, times `share`; logits exist for `chunk` rows.
  Var loss(const Pass& pass, const Var& h, const Parameter& tokens, const core::Tokens& targets,
           Real share, Index chunk) const;
  TokenScores score(const Tensor& h, const Parameter& tokens, const core::Tokens& targets) const;
  /// -> [N, V]
  Tensor logits(const Tensor& h, const Parameter& tokens) const;

  /// Numbers in weight matrices.
  Index weights(const Parameter& tokens) const;
  void visit(Inventory& inventory);

 private:
  const Parameter& table(const Parameter& tokens) const { return own_ ? *own_ : tokens; }

  std::optional<Parameter> own_;
  std::optional<Multiplicative> sparse_;
};

}  // namespace weft::layers
