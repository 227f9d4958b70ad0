#include "layers/stack/decoder_block.h"

#include "core/scope.h"

namespace weft::layers {

DecoderBlock::DecoderBlock(MultiHead self, CrossAttention cross,
                           std::unique_ptr<FeedForward> feed_forward, Index width, NormPlace place,
                           Real dropout, NormKind norm)
    : self_(std::move(self)),
      cross_(std::move(cross)),
      feed_forward_(std::move(feed_forward)),
      self_norm_(width, norm),
      cross_norm_(width, norm),
      feed_forward_norm_(width, norm),
      place_(place),
      dropout_(dropout) {}

Var DecoderBlock::forward(const Pass& pass, const Var& x, const Sequences& own, const Var& source,
                          const Sequences& over) const {
  const Pass self = pass.at("attention"), cross = pass.at("cross"), feed = pass.at("feed_forward");
  Var y;
  {
    const core::Scope scope("attention");
    y = residual(
        self, x, self_norm_, place_, dropout_,
        [&](const Var& r, const Var& h) { return self_.onto(self, r, h, own); },
        [&](const Var& h) { return self_.forward(self, h, own); });
  }
  {
    const core::Scope scope("cross");
    const auto read = [&](const Var& h) { return cross_.forward(cross, h, source, over); };
    y = residual(
        cross, y, cross_norm_, place_, dropout_,
        [&](const Var& r, const Var& h) { return autograd::add(r, read(h)); }, read);
  }
  const core::Scope scope("feed_forward");
  return residual(
      feed, y, feed_forward_norm_, place_, dropout_,
      [&](const Var& r, const Var& h) { return feed_forward_->onto(feed, r, h, own); },
      [&](const Var& h) { return feed_forward_->forward(feed, h, own); });
}

Tensor DecoderBlock::step(State& state, const Tensor& x, Index position) const {
  const auto pass_by = [&](const Var& r, const Norm& norm, const auto& f) {
    const auto branch = [&](const Var& h) { return Var(f(h.value())); };
    return residual(
        Pass(), r, norm, place_, 0,
        [&](const Var& to, const Var& h) { return autograd::add(to, branch(h)); }, branch);
  };
  Var y = pass_by(Var(x), self_norm_,
                  [&](const Tensor& h) { return self_.step(state.self, h, position); });
  y = pass_by(y, cross_norm_, [&](const Tensor& h) { return cross_.step(state.cross, h); });
  y = pass_by(y, feed_forward_norm_, [&](const Tensor& h) { return feed_forward_->step(h); });
  return y.value();
}

Var DecoderBlock::penalty(const Pass& pass) const {
  const Var own = self_.penalty(pass.at("attention")), over = cross_.penalty(pass.at("cross"));
  if (own.value().size() == 0) return over;
  return over.value().size() == 0 ? own : autograd::add(own, over);
}

std::vector<Metric> DecoderBlock::metrics() const {
  std::vector<Metric> all;
  for (const Metric& own : self_.metrics()) all.push_back({"attention." + own.name, own.value});
  for (const Metric& over : cross_.metrics()) all.push_back({"cross." + over.name, over.value});
  for (const Metric& fed : feed_forward_->metrics())
    all.push_back({"feed_forward." + fed.name, fed.value});
  return all;
}

void DecoderBlock::constrain() {
  self_.constrain();
  cross_.constrain();
}

void DecoderBlock::visit(Inventory& inventory) {
  inventory.enter("attention_norm", self_norm_);
  inventory.enter("attention", self_);
  inventory.enter("cross_norm", cross_norm_);
  inventory.enter("cross", cross_);
  inventory.enter("feed_forward_norm", feed_forward_norm_);
  inventory.enter("feed_forward", *feed_forward_);
}

}  // namespace weft::layers
