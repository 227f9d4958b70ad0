#pragma once

#include <memory>

#include "layers/multi_head/cross_attention.h"
#include "layers/stack/branch.h"

namespace weft::layers {

/// One layer of a decoder: attention over the target so far, attention over the source, then
/// feed-forward, each with its residual and its norm.
class DecoderBlock {
 public:
  DecoderBlock(MultiHead self, CrossAttention cross, std::unique_ptr<FeedForward> feed_forward,
               const ResidualForm& form);

  /// x: [B * T, W], source: [B * S, W] -> [B * T, W].  `own` describes the target by itself, `over`
  /// its tokens over the source.
  Var forward(const Pass& pass, const Var& x, const Sequences& own, const Var& source,
              const Sequences& over) const;

  struct State {
    std::unique_ptr<DecodeState> self, feed_forward;
    CrossAttention::State cross;

    State copy() const { return {self->copy(), feed_forward->copy(), cross.copy()}; }
  };
  /// source: [S, W]
  State begin(const Tensor& source) const {
    return {self_.begin(), feed_forward_.begin(), cross_.begin(source)};
  }
  /// A token of one sequence, which goes on from `state` at `position`.
  struct Row {
    State* state;
    Index position;
  };
  /// Single tokens.  x: [n, W] -> [n, W]
  Tensor step(const std::vector<Row>& rows, const Tensor& x) const;

  /// What the mechanisms ask for their parameters; an empty Var for nothing.  -> [1]
  Var penalty(const Pass& pass) const;
  Cost cost(const Sequences& own, const Sequences& over) const {
    Cost total = self_.heads().cost(own);
    return total += cross_.cost(over);
  }
  /// Numbers in weight matrices, and those times the rows that pass them.
  Index weights() const { return weight_rows(1, 1); }
  Index weight_rows(Index target, Index source) const {
    return target * (self_.weights() + feed_forward_.weights()) +
           cross_.weight_rows(target, source);
  }
  void visit(Inventory& inventory);

 private:
  AttentionBranch self_;
  CrossAttention cross_;
  FeedForwardBranch feed_forward_;
  Norm cross_norm_;
  NormPlace place_;
  Real dropout_;
};

}  // namespace weft::layers
