#pragma once

#include <optional>

#include "core/arrays/tokens.h"
#include "layers/output/mixture_output.h"
#include "layers/output/token_scores.h"
#include "layers/parts/multiplicative.h"

namespace weft::layers {

/// From the last hidden vectors to logits over the vocabulary: by the token table itself, by a
/// separate table, by a multiplicative layer of few weights, or by a mixture of logistics over
/// the values of an image.  h: [N, n]
class OutputLayer {
 public:
  /// Shares the table of tokens, which every call brings along.
  OutputLayer() = default;
  static OutputLayer untied(Index vocabulary, Index width, Init init);
  static OutputLayer sparse(Index vocabulary, Index width, Index modules);
  /// Over the tokens 0 .. levels - 1.
  static OutputLayer logistics(Index levels, Index width, Index mixtures, Init init);

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
  std::optional<MixtureOutput> mixture_;
};

}  // namespace weft::layers
