#pragma once

#include <memory>

#include "layers/multi_head/cross_attention.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/residual.h"

namespace weft::layers {

/// One layer of a decoder: attention over the target so far, attention over the source, then
/// feed-forward, each with its residual and its norm.
class DecoderBlock {
 public:
  DecoderBlock(MultiHead self, CrossAttention cross, std::unique_ptr<FeedForward> feed_forward,
               Index width, NormPlace place, Real dropout, NormKind norm);

  /// x: [B * T, W], source: [B * S, W] -> [B * T, W].  `own` tells of the target by itself, `over`
  /// of its tokens over the source.
  Var forward(const Pass& pass, const Var& x, const Sequences& own, const Var& source,
              const Sequences& over) const;

  struct State {
    MultiHeadState self;
    CrossAttention::State cross;
  };
  /// source: [S, W]
  State begin(const Tensor& source) const { return {self_.begin(), cross_.begin(source)}; }
  /// One token.  x: [1, W] -> [1, W]
  Tensor step(State& state, const Tensor& x, Index position) const;

  /// What the mechanisms ask for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const;
  Cost cost(const Sequences& own, const Sequences& over) const {
    Cost total = self_.cost(own);
    return total += cross_.cost(over);
  }
  /// Numbers in weight matrices, and those times the rows that pass them.
  Index weights() const { return weight_rows(1, 1); }
  Index weight_rows(Index target, Index source) const {
    return target * (self_.weights() + feed_forward_->weights()) +
           cross_.weight_rows(target, source);
  }
  std::vector<Metric> metrics() const;
  void constrain();
  void visit(Inventory& inventory);

 private:
  MultiHead self_;
  CrossAttention cross_;
  std::unique_ptr<FeedForward> feed_forward_;
  Norm self_norm_, cross_norm_, feed_forward_norm_;
  NormPlace place_;
  Real dropout_;
};

}  // namespace weft::layers
