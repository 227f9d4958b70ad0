#pragma once

#include "layers/parts/feed_forward.h"

namespace weft::layers {

/// gelu(x W1 + b1) W2 + b2.  x: [N, W] -> [N, W], through F hidden units.
/// With `chunk` rows given, whole sequences pass in pieces of that many rows, forward and backward,
/// so that the hidden units exist for one piece at a time; they are computed twice.
class DenseFeedForward final : public FeedForward {
 public:
  DenseFeedForward(Index width, Index hidden, Init in, Init out, Index chunk = 0)
      : in_(width, hidden, in), out_(hidden, width, out), chunk_(chunk) {}

  Var forward(const Pass&, const Var& x, const Sequences&) const override {
    const auto whole = [this](const Pass&, const Var& rows) { return out_.forward(hidden(rows)); };
    return chunk_ > 0 ? autograd::by_pieces(Pass(), whole, x, chunk_) : whole(Pass(), x);
  }
  Var onto(const Pass& pass, const Var& residual, const Var& x,
           const Sequences& sequences) const override {
    return chunk_ > 0 ? FeedForward::onto(pass, residual, x, sequences)
                      : out_.onto(residual, hidden(x));
  }

  Index weights() const override { return in_.weights() + out_.weights(); }

  void visit(Inventory& inventory) override {
    inventory.enter("in", in_);
    inventory.enter("out", out_);
  }

 private:
  Var hidden(const Var& x) const { return autograd::bias_gelu(in_.product(x), in_.bias()); }

  Linear in_, out_;
  Index chunk_;
};

}  // namespace weft::layers
