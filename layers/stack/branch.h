#pragma once

#include <memory>
#include <optional>

#include "layers/multi_head/multi_head.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/recurrent_unit.h"

namespace weft::layers {

/// What is added to a residual stream: dropout(f(norm(x))).
class Branch {
 public:
  virtual ~Branch() = default;

  /// x: [B * T, W] -> [B * T, W]
  virtual Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const = 0;

  virtual std::unique_ptr<DecodeState> begin() const = 0;
  /// One token, with dropout off.  x: [1, W] -> [1, W]
  virtual Tensor step(DecodeState& state, const Tensor& x, Index position) const = 0;

  /// The attention inside, if it is one.
  virtual MultiHead* attention() { return nullptr; }
  /// Numbers in weight matrices.
  virtual Index weights() const = 0;
  virtual void visit(Inventory& inventory) = 0;
};

class AttentionBranch final : public Branch {
 public:
  AttentionBranch(MultiHead attention, Index width, NormKind norm, Real dropout);

  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const override;
  std::unique_ptr<DecodeState> begin() const override;
  Tensor step(DecodeState& state, const Tensor& x, Index position) const override;
  MultiHead* attention() override { return &attention_; }
  Index weights() const override { return attention_.weights(); }
  void visit(Inventory& inventory) override;

 private:
  MultiHead attention_;
  Norm norm_;
  Real dropout_;
};

/// Feed-forward, and beside it a recurrent unit where one is given.
class FeedForwardBranch final : public Branch {
 public:
  FeedForwardBranch(std::unique_ptr<FeedForward> feed_forward, std::optional<RecurrentUnit> unit,
                    Index width, NormKind norm, Real dropout);

  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const override;
  std::unique_ptr<DecodeState> begin() const override;
  Tensor step(DecodeState& state, const Tensor& x, Index position) const override;
  Index weights() const override;
  void visit(Inventory& inventory) override;

 private:
  std::unique_ptr<FeedForward> feed_forward_;
  std::optional<RecurrentUnit> unit_;
  Norm norm_;
  Real dropout_;
};

}  // namespace weft::layers
