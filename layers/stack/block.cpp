#include "layers/stack/block.h"

#include "core/scope.h"

namespace weft::layers {

Block::Block(MultiHead attention, std::unique_ptr<FeedForward> feed_forward,
             const ResidualForm& form)
    : branches_{std::make_shared<AttentionBranch>(std::move(attention), form),
                std::make_shared<FeedForwardBranch>(std::move(feed_forward), std::nullopt, form)} {}

Var Block::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  Var y = x;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    const core::Scope scope(names[i]);
    y = branches_[i]->onto(pass.at(names[i]), y, sequences);
  }
  return y;
}

Var Block::forward_rows(const Pass& pass, const Var& x, const Sequences& sequences,
                        const autograd::RowNumbers& rows) const {
  const auto attended = [&] {
    const core::Scope scope(names[0]);
    return autograd::gather_rows(branches_[0]->onto(pass.at(names[0]), x, sequences), rows);
  }();
  const core::Scope scope(names[1]);
  return branches_[1]->onto(pass.at(names[1]), attended,
                            Sequences::self(1, attended.shape()[0], sequences.causal));
}

Tensor Block::step(const StackRows& rows, std::size_t first, const Tensor& x) const {
  Tensor y = x;
  for (std::size_t i = 0; i < branches_.size(); ++i)
    y = branches_[i]->step_onto(rows_of_branch(rows, first + i), y);
  return y;
}

Tensor Block::step_rows(const StackRows& rows, std::size_t first, const Tensor& x,
                        const autograd::RowNumbers& read) const {
  const Tensor attended = branches_[0]->step_onto(rows_of_branch(rows, first), x);
  if (read->empty()) return {};
  StackRows own;
  for (const Index row : *read) own.push_back(rows[std::size_t(row)]);
  return branches_[1]->step_onto(rows_of_branch(own, first + 1),
                                 autograd::gather_rows(Var(attended), read).value());
}

void Block::visit(Inventory& inventory) {
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    inventory.enter(std::string(names[i]) + "_norm", branches_[i]->norm());
    inventory.enter(names[i], *branches_[i]);
  }
}

}  // namespace weft::layers
