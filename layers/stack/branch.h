#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "layers/multi_head/multi_head.h"
#include "layers/parts/feed_forward.h"
#include "layers/parts/recurrent_unit.h"
#include "layers/parts/residual.h"

namespace weft::layers {

/// A sublayer f with its norm and its dropout. A plain stack runs it with its residual (`onto`); a
/// reversible stack adds what it gives (`forward`) to another stream than the one that it reads.
class Branch {
 public:
  explicit Branch(const ResidualForm& form)
      : norm_(form.width, form.norm, form.norm_eps), place_(form.place), dropout_(form.dropout) {}
  virtual ~Branch() = default;
  Branch(Branch&&) = default;

  /// dropout(f(norm(x))).  x: [B * T, W] -> [B * T, W]
  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const;
  /// pre: x + dropout(f(norm(x))), post: norm(x + dropout(f(x))).  x: [B * T, W] -> [B * T, W]
  Var onto(const Pass& pass, const Var& x, const Sequences& sequences) const;

  virtual std::unique_ptr<DecodeState> begin() const = 0;
  /// `forward` and `onto` for single tokens, with dropout off.  x: [n, W] -> [n, W]
  Tensor step(const StepRows& rows, const Tensor& x) const;
  Tensor step_onto(const StepRows& rows, const Tensor& x) const;

  /// The attention inside; null where f is another sublayer.
  virtual MultiHead* attention() { return nullptr; }
  /// Numbers in weight matrices.
  virtual Index weights() const = 0;
  /// Lists what f has; the norm is listed by the code that names both.
  virtual void visit(Inventory& inventory) = 0;
  Norm& norm() { return norm_; }

 protected:
  /// f(h), where h is what the norm made of x.
  virtual Var run(const Pass& pass, const Var& h, const Var& x,
                  const Sequences& sequences) const = 0;
  /// residual + f(h)
  virtual Var run_onto(const Pass& pass, const Var& residual, const Var& h, const Var& x,
                       const Sequences& sequences) const {
    return autograd::add(residual, run(pass, h, x, sequences));
  }
  virtual Tensor run_step(const StepRows& rows, const Tensor& h, const Tensor& x) const = 0;

 private:
  Norm norm_;
  NormPlace place_;
  Real dropout_;
};

/// The state that one sequence keeps in the branches of a stack, in order.
struct BranchStates {
  std::vector<std::unique_ptr<DecodeState>> branches;
  Index position = 0;

  Index bytes() const;
  BranchStates copy() const { return {copies_of(branches), position}; }
};

/// One row that a whole stack decodes.
struct StackRow {
  BranchStates* sequence;
  Index position;
};
using StackRows = std::vector<StackRow>;

/// The rows as branch number `branch` of the stack decodes them.
StepRows rows_of_branch(const StackRows& rows, std::size_t branch);

class AttentionBranch final : public Branch {
 public:
  AttentionBranch(MultiHead attention, const ResidualForm& form)
      : Branch(form), attention_(std::move(attention)) {}

  std::unique_ptr<DecodeState> begin() const override;
  MultiHead* attention() override { return &attention_; }
  const MultiHead& heads() const { return attention_; }
  Index weights() const override { return attention_.weights(); }
  void visit(Inventory& inventory) override { attention_.visit(inventory); }

 private:
  Var run(const Pass& pass, const Var& h, const Var& x, const Sequences& sequences) const override;
  Var run_onto(const Pass& pass, const Var& residual, const Var& h, const Var& x,
               const Sequences& sequences) const override;
  Tensor run_step(const StepRows& rows, const Tensor& h, const Tensor& x) const override;

  MultiHead attention_;
};

/// Feed-forward, and next to it a recurrent unit where one is given.
class FeedForwardBranch final : public Branch {
 public:
  FeedForwardBranch(std::unique_ptr<FeedForward> feed_forward, std::optional<RecurrentUnit> unit,
                    const ResidualForm& form)
      : Branch(form), feed_forward_(std::move(feed_forward)), unit_(std::move(unit)) {}

  std::unique_ptr<DecodeState> begin() const override;
  Index weights() const override;
  void visit(Inventory& inventory) override;

 private:
  Var run(const Pass& pass, const Var& h, const Var& x, const Sequences& sequences) const override;
  Var run_onto(const Pass& pass, const Var& residual, const Var& h, const Var& x,
               const Sequences& sequences) const override;
  Tensor run_step(const StepRows& rows, const Tensor& h, const Tensor& x) const override;

  std::unique_ptr<FeedForward> feed_forward_;
  std::optional<RecurrentUnit> unit_;
};

}  // namespace weft::layers
