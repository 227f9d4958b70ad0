#pragma once

#include "layers/attention/contract/step_rows.h"
#include "layers/parts/activation.h"
#include "layers/parts/linear.h"

namespace weft::layers {

/// The kinds of feed-forward that a block can have.
enum class FeedForwardKind { dense, sparse, experts, memory };

/// What a block does to each token separately.  x: [N, W] -> [N, W]
/// `sequences` says which rows are one sequence and which are padding, for a part that counts
/// tokens; rows of padding may come out as anything finite.
class FeedForward {
 public:
  virtual ~FeedForward() = default;

  virtual Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const = 0;
  /// residual + forward(x)
  virtual Var onto(const Pass& pass, const Var& residual, const Var& x,
                   const Sequences& sequences) const {
    return autograd::add(residual, forward(pass, x, sequences));
  }
  /// Single tokens in evaluation, each with the bits that it has alone.  x: [n, W] -> [n, W]
  virtual Tensor step(const Tensor& x) const {
    return stacked_rows(x.shape()[0], x.shape()[1], [&](Index r) {
      return forward(Pass(), Var(x.rows(r, 1)), Sequences::self(1, 1, true)).value();
    });
  }

  /// Numbers in weight matrices that one token is multiplied with.
  virtual Index weights() const = 0;
  virtual void visit(Inventory& inventory) = 0;
};

/// f(x W1 + b1) W2 + b2 with an activation f.  x: [N, W] -> [N, W], through F hidden units.
/// With `chunk` rows given, whole sequences pass in pieces of that many rows, forward and backward,
/// so that the hidden units exist for one piece at a time; they are computed twice.
class DenseFeedForward final : public FeedForward {
 public:
  DenseFeedForward(Index width, Index hidden, Init in, Init out, Index chunk = 0,
                   Activation activation = Activation::gelu)
      : in_(width, hidden, in), out_(hidden, width, out), chunk_(chunk), activation_(activation) {}

  Var forward(const Pass&, const Var& x, const Sequences&) const override {
    const auto whole = [this](const Pass&, const Var& rows) { return out_.forward(hidden(rows)); };
    return chunk_ > 0 ? autograd::by_pieces(Pass(), whole, x, chunk_) : whole(Pass(), x);
  }
  Var onto(const Pass& pass, const Var& residual, const Var& x,
           const Sequences& sequences) const override {
    return chunk_ > 0 ? FeedForward::onto(pass, residual, x, sequences)
                      : out_.onto(residual, hidden(x));
  }

  Tensor step(const Tensor& x) const override { return out_.forward(hidden(Var(x))).value(); }

  Index weights() const override { return in_.weights() + out_.weights(); }

  void visit(Inventory& inventory) override {
    inventory.enter("in", in_);
    inventory.enter("out", out_);
  }

 private:
  Var hidden(const Var& x) const { return hidden_units(activation_, in_, x); }

  Linear in_, out_;
  Index chunk_;
  Activation activation_;
};

}  // namespace weft::layers
