#include "layers/stack/block.h"

#include "core/scope.h"

namespace weft::layers {

Block::Block(MultiHead attention, std::unique_ptr<FeedForward> feed_forward, Index width,
             NormPlace place, Real dropout, NormKind norm)
    : attention_(std::move(attention)),
      feed_forward_(std::move(feed_forward)),
      attention_norm_(width, norm),
      feed_forward_norm_(width, norm),
      place_(place),
      dropout_(dropout) {}

Var Block::forward(const Pass& pass, const Var& x, const Sequences& sequences) const {
  Var y;
  {
    const core::Scope scope("attention");
    const Pass own = pass.at("attention");
    y = residual(
        own, x, attention_norm_, place_, dropout_,
        [&](const Var& r, const Var& h) { return attention_.onto(own, r, h, sequences); },
        [&](const Var& h) { return attention_.forward(own, h, sequences); });
  }
  const core::Scope scope("feed_forward");
  const Pass own = pass.at("feed_forward");
  return residual(
      own, y, feed_forward_norm_, place_, dropout_,
      [&](const Var& r, const Var& h) { return feed_forward_->onto(own, r, h, sequences); },
      [&](const Var& h) { return feed_forward_->forward(own, h, sequences); });
}

Var Block::attention_branch(const Pass& pass, const Var& x, const Sequences& sequences) const {
  const core::Scope scope("attention");
  const Pass own = pass.at("attention");
  return autograd::dropout(own, attention_.forward(own, attention_norm_.forward(own, x), sequences),
                           dropout_);
}

Var Block::feed_forward_branch(const Pass& pass, const Var& x, const Sequences& sequences) const {
  const core::Scope scope("feed_forward");
  const Pass own = pass.at("feed_forward");
  return autograd::dropout(
      own, feed_forward_->forward(own, feed_forward_norm_.forward(own, x), sequences), dropout_);
}

Tensor Block::step_attention(MultiHeadState& state, const Tensor& x, Index position) const {
  return attention_.step(state, attention_norm_.forward(Pass(), Var(x)).value(), position);
}

Tensor Block::step_feed_forward(const Tensor& x) const {
  return feed_forward_->step(feed_forward_norm_.forward(Pass(), Var(x)).value());
}

Tensor Block::step(MultiHeadState& state, const Tensor& x, Index position) const {
  const Var y = residual(
      Pass(), Var(x), attention_norm_, place_, 0,
      [&](const Var& r, const Var& h) {
        return autograd::add(r, Var(attention_.step(state, h.value(), position)));
      },
      [&](const Var& h) { return Var(attention_.step(state, h.value(), position)); });
  return residual(
             Pass(), y, feed_forward_norm_, place_, 0,
             [&](const Var& r, const Var& h) {
               return autograd::add(r, Var(feed_forward_->step(h.value())));
             },
             [&](const Var& h) { return Var(feed_forward_->step(h.value())); })
      .value();
}

void Block::visit(Inventory& inventory) {
  inventory.enter("attention_norm", attention_norm_);
  inventory.enter("attention", attention_);
  inventory.enter("feed_forward_norm", feed_forward_norm_);
  inventory.enter("feed_forward", *feed_forward_);
}

}  // namespace weft::layers
