#pragma once

#include <memory>

#include "layers/multi_head/multi_head.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/residual.h"

namespace weft::layers {

/// One Transformer layer: attention, then feed-forward, each with its residual and its norm.
///   pre:   x + dropout(f(norm(x)))        post:   norm(x + dropout(f(x)))
class Block {
 public:
  Block(MultiHead attention, std::unique_ptr<FeedForward> feed_forward, Index width,
        NormPlace place, Real dropout, NormKind norm = NormKind::layer);

  /// x: [B * T, W] -> [B * T, W]
  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const;

  /// What each sublayer adds to its residual when the norm comes first: dropout(f(norm(x))).
  Var attention_branch(const Pass& pass, const Var& x, const Sequences& sequences) const;
  Var feed_forward_branch(const Pass& pass, const Var& x, const Sequences& sequences) const;

  MultiHeadState begin() const { return attention_.begin(); }
  /// One token.  x: [1, W] -> [1, W]
  Tensor step(MultiHeadState& state, const Tensor& x, Index position) const;
  /// The branches of one token, with dropout off.
  Tensor step_attention(MultiHeadState& state, const Tensor& x, Index position) const;
  Tensor step_feed_forward(const Tensor& x) const;

  /// The attention's penalty, asked for at the place where its forward ran.
  Var penalty(const Pass& pass) const { return attention_.penalty(pass.at("attention")); }
  const MultiHead& attention() const { return attention_; }
  MultiHead& attention() { return attention_; }
  const FeedForward& feed_forward() const { return *feed_forward_; }
  /// Numbers in weight matrices that one token is multiplied with.
  Index weights() const { return attention_.weights() + feed_forward_->weights(); }
  void visit(Inventory& inventory);

 private:
  MultiHead attention_;
  std::unique_ptr<FeedForward> feed_forward_;
  Norm attention_norm_, feed_forward_norm_;
  NormPlace place_;
  Real dropout_;
};

}  // namespace weft::layers
