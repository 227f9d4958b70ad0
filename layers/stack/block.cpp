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

Tensor Block::step(std::span<const std::unique_ptr<DecodeState>> states, const Tensor& x,
                   Index position) const {
  const Tensor y = branches_[0]->step_onto(*states[0], x, position);
  return branches_[1]->step_onto(*states[1], y, position);
}

void Block::visit(Inventory& inventory) {
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    inventory.enter(std::string(names[i]) + "_norm", branches_[i]->norm());
    inventory.enter(names[i], *branches_[i]);
  }
}

}  // namespace weft::layers
