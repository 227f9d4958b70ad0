#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "layers/stack/branch.h"

namespace weft::layers {

/// One Transformer layer: attention, then feed-forward, each a branch with its residual.
class Block {
 public:
  Block(MultiHead attention, std::unique_ptr<FeedForward> feed_forward, const ResidualForm& form);

  /// x: [B * T, W] -> [B * T, W]
  Var forward(const Pass& pass, const Var& x, const Sequences& sequences) const;
  /// These rows of it, where nobody reads the others: the feed-forward runs on them alone.
  /// -> [rows, W]
  Var forward_rows(const Pass& pass, const Var& x, const Sequences& sequences,
                   const autograd::RowNumbers& rows) const;
  /// Single tokens; the block's branches are those of the stack from number `first` on.
  /// x: [n, W] -> [n, W]
  Tensor step(const StackRows& rows, std::size_t first, const Tensor& x) const;
  /// These rows of it, in order, as in `forward_rows`; an empty tensor for none.
  Tensor step_rows(const StackRows& rows, std::size_t first, const Tensor& x,
                   const autograd::RowNumbers& read) const;

  /// The branches in order, and what their parameters, their scopes and their parts of a pass are
  /// called. A reversible stack shares them.
  using Branches = std::array<std::shared_ptr<Branch>, 2>;
  static constexpr std::array<std::string_view, 2> names = {"attention", "feed_forward"};
  const Branches& branches() const { return branches_; }

  /// The attention's penalty, asked for at the place where its forward ran.
  Var penalty(const Pass& pass) const { return attention().penalty(pass.at(names[0])); }
  const MultiHead& attention() const { return *branches_[0]->attention(); }
  /// Numbers in weight matrices.
  Index weights() const { return branches_[0]->weights() + branches_[1]->weights(); }
  /// Those of them that only the rows of `forward_rows` pass.
  Index weights_of_rows() const { return branches_[1]->weights(); }
  void visit(Inventory& inventory);

 private:
  Branches branches_;
};

}  // namespace weft::layers
