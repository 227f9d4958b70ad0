#include "layers/stack/decoder_block.h"

#include "core/scope.h"

namespace weft::layers {

DecoderBlock::DecoderBlock(MultiHead self, CrossAttention cross,
                           std::unique_ptr<FeedForward> feed_forward, const ResidualForm& form)
    : self_(std::move(self), form),
      cross_(std::move(cross)),
      feed_forward_(std::move(feed_forward), std::nullopt, form),
      cross_norm_(form.width, form.norm),
      place_(form.place),
      dropout_(form.dropout) {}

Var DecoderBlock::forward(const Pass& pass, const Var& x, const Sequences& own, const Var& source,
                          const Sequences& over) const {
  Var y;
  {
    const core::Scope scope("attention");
    y = self_.onto(pass.at("attention"), x, own);
  }
  {
    const core::Scope scope("cross");
    const Pass cross = pass.at("cross");
    const auto read = [&](const Var& h) { return cross_.forward(cross, h, source, over); };
    y = residual(
        cross, y, cross_norm_, place_, dropout_,
        [&](const Var& r, const Var& h) { return autograd::add(r, read(h)); }, read);
  }
  const core::Scope scope("feed_forward");
  return feed_forward_.onto(pass.at("feed_forward"), y, own);
}

Tensor DecoderBlock::step(const std::vector<Row>& rows, const Tensor& x) const {
  StepRows of_self, of_feed_forward;
  std::vector<CrossAttention::State*> of_cross;
  for (const auto& [state, position] : rows) {
    of_self.push_back({state->self.get(), position});
    of_cross.push_back(&state->cross);
    of_feed_forward.push_back({state->feed_forward.get(), position});
  }
  const auto read = [&](const Var& h) { return Var(cross_.step(of_cross, h.value())); };
  const Var y = residual(
      Pass(), Var(self_.step_onto(of_self, x)), cross_norm_, place_, 0,
      [&](const Var& r, const Var& h) { return autograd::add(r, read(h)); }, read);
  return feed_forward_.step_onto(of_feed_forward, y.value());
}

Var DecoderBlock::penalty(const Pass& pass) const {
  const Var own = self_.heads().penalty(pass.at("attention")),
            over = cross_.penalty(pass.at("cross"));
  if (own.value().size() == 0) return over;
  return over.value().size() == 0 ? own : autograd::add(own, over);
}

void DecoderBlock::visit(Inventory& inventory) {
  inventory.enter("attention_norm", self_.norm());
  inventory.enter("attention", self_);
  inventory.enter("cross_norm", cross_norm_);
  inventory.enter("cross", cross_);
  inventory.enter("feed_forward_norm", feed_forward_.norm());
  inventory.enter("feed_forward", feed_forward_);
}

}  // namespace weft::layers
