#pragma once

#include "layers/attention/contract/attention.h"

namespace weft::layers {

/// How far the heads of a layer read: the reach z of each head, or of each token and head.
class SpanRule {
 public:
  virtual ~SpanRule() = default;

  /// In keys, from 0 to the largest span; an empty Var when every head reads the largest span.
  /// x: [tokens, W] -> [H], or [tokens, H]
  virtual Var reach(const Pass&, const Var&) const { return {}; }
  /// Whether tokens differ.
  virtual bool by_token() const { return false; }
  /// The present z of every head, for reports; an average where tokens differ.
  virtual std::vector<double> reaches() const { return {}; }
  /// The penalty for reach in training, through a parameter or where `out` was made with it.
  virtual Var penalty(const Pass&) const { return {}; }
  virtual Var charged(const Pass&, const Var& out, const Var&) const { return out; }
  /// The cost of this many tokens in addition to attention.
  virtual Cost cost(Index) const { return {}; }
  virtual void constrain() {}
  virtual void visit(autograd::Inventory&) {}
};

}  // namespace weft::layers
