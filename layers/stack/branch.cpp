#include "layers/stack/branch.h"

namespace weft::layers {
namespace {

struct HeadStates final : DecodeState {
  explicit HeadStates(MultiHeadState begun) : heads(std::move(begun)) {}
  Index bytes() const override { return heads.bytes(); }
  MultiHeadState heads;
};

/// The recurrent unit's, if there is one.
struct UnitState final : DecodeState {
  Index bytes() const override { return unit ? unit->bytes() : 0; }
  std::unique_ptr<DecodeState> unit;
};

}  // namespace

AttentionBranch::AttentionBranch(MultiHead attention, Index width, NormKind norm, Real dropout)
    : attention_(std::move(attention)), norm_(width, norm), dropout_(dropout) {}

Var AttentionBranch::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  return autograd::dropout(pass, attention_.forward(pass, norm_.forward(pass, x), sequences),
                           dropout_);
}

std::unique_ptr<DecodeState> AttentionBranch::begin() const {
  return std::make_unique<HeadStates>(attention_.begin());
}

Tensor AttentionBranch::step(DecodeState& state, const Tensor& x, Index position) const {
  return attention_.step(static_cast<HeadStates&>(state).heads,
                         norm_.forward(Pass(), Var(x)).value(), position);
}

void AttentionBranch::visit(Inventory& inventory) {
  inventory.enter("norm", norm_);
  attention_.visit(inventory);
}

FeedForwardBranch::FeedForwardBranch(std::unique_ptr<FeedForward> feed_forward,
                                     std::optional<RecurrentUnit> unit, Index width, NormKind norm,
                                     Real dropout)
    : feed_forward_(std::move(feed_forward)),
      unit_(std::move(unit)),
      norm_(width, norm),
      dropout_(dropout) {}

Var FeedForwardBranch::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  Var y = feed_forward_->forward(pass, norm_.forward(pass, x), sequences);
  if (unit_) y = autograd::add(y, unit_->forward(pass.at("unit"), x, sequences.queries));
  return autograd::dropout(pass, y, dropout_);
}

std::unique_ptr<DecodeState> FeedForwardBranch::begin() const {
  auto state = std::make_unique<UnitState>();
  if (unit_) state->unit = unit_->begin();
  return state;
}

Tensor FeedForwardBranch::step(DecodeState& state, const Tensor& x, Index) const {
  const Tensor y = feed_forward_->step(norm_.forward(Pass(), Var(x)).value());
  if (!unit_) return y;
  const Tensor beside = unit_->step(*static_cast<UnitState&>(state).unit, x);
  return autograd::add(Var(y), Var(beside)).value();
}

Index FeedForwardBranch::weights() const {
  return feed_forward_->weights() + (unit_ ? unit_->weights() : 0);
}

void FeedForwardBranch::visit(Inventory& inventory) {
  inventory.enter("norm", norm_);
  feed_forward_->visit(inventory);
  if (unit_) inventory.enter("recurrent_unit", *unit_);
}

}  // namespace weft::layers
