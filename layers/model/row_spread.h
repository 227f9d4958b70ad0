#pragma once

#include <memory>
#include <optional>

#include "layers/attention/contract/sequences.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// Tokens spread over the rows that the layers' mechanisms want, and back.
class RowSpread {
 public:
  /// `rule` may be null: rows are then tokens, and nothing is spread.
  RowSpread(std::shared_ptr<const RowRule> rule, Index width);

  /// Whether rows are anything else than tokens.
  bool present() const { return rule_ != nullptr; }
  const RowRule& rule() const { return *rule_; }

  /// The sequences of rows of a batch of tokens, [B, T].
  Sequences over(const core::Tokens& tokens, const core::Lengths& lengths, bool causal) const;
  /// Sequences of rows where the tokens are not known, only how many there are.
  Sequences over(const Sequences& tokens) const;
  /// Rows of the layers for each row of tokens, on average.
  double rows_per_token(Index length) const;

  /// The ascending numbers of the rows that a model reads after the layers: those of tokens,
  /// and where it asks for them those that stand for whole sequences.
  autograd::RowNumbers read(const Sequences& rows, bool roots) const;

  /// x: [B * T, W] -> [B * R, W], padding 0
  Var spread(const Pass& pass, const Var& x, const Sequences& rows) const;
  /// Of the rows that were read, the tokens', padding 0.  x: [read, n] -> [B * T, n]
  Var tokens(const Var& x, const Sequences& rows, Index length) const;
  /// Those that represent whole sequences, which must be among them.  x: [read, n] -> [B, n]
  Var roots(const Var& x, const Sequences& rows) const;
  /// The initial value of an additional row in decoding: [1, W]
  Tensor begin_row() const { return Tensor({1, width_}, Real(0)); }

  void visit(Inventory& inventory);

 private:
  std::shared_ptr<const RowRule> rule_;
  Index width_;
  std::optional<Parameter> starts_;  ///< [vectors, W]
};

}  // namespace weft::layers
