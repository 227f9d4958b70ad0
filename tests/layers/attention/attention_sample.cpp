#include "tests/layers/attention/attention_sample.h"

#include "tests/layers/attention/off_the_kink.h"

namespace weft::layers {

AttentionSample::AttentionSample(const std::string& kind, const Sequences& sequences, Index heads,
                                 Index head_width, const tests::Settings& settings,
                                 const RelativeSettings& relative)
    : sequences_(sequences), heads_(heads), head_width_(head_width) {
  AttentionSite site{.width = width(),
                     .heads = heads,
                     .head_width = head_width,
                     .length = std::max(sequences.queries, sequences.keys),
                     .causal = sequences.causal,
                     .shared = shared_.get()};
  relative_ = site.relative = make_relative(relative, site);
  tests::GivenFields fields(settings);
  const AttentionPlan plan = find_attention(kind)->configure(fields, site);
  traits_ = plan.traits;
  attention_ = plan.make(site);
  attention_->visit(inventory_);
  if (relative_) relative_->visit(inventory_);
  shared_->visit(inventory_);
  arena_ = std::make_unique<autograd::ParameterArena>(inventory_,
                                                      autograd::ParameterArena::Use::training);
  arena_->initialise(core::Rng(1));
  move_reaches_off_the_kink(*arena_);
  for (const Projection& projection : attention_->projections())
    inputs_.push_back(tests::random_tensor({rows_of(projection), width()}, 10 + inputs_.size()));
  inputs_.push_back(tests::random_tensor({sequences.batch * sequences.queries, width()}, 9));
}

Var AttentionSample::forward(const Pass& pass, const std::vector<Var>& in) const {
  AttentionInput input{{}, in.back(), sequences_};
  for (std::size_t i = 0; i + 1 < in.size(); ++i) input.blocks.push_back({in[i], 0});
  return attention_->forward(pass, input);
}

AttentionSample::Run AttentionSample::run() const {
  arena_->zero_gradients();
  autograd::Tape tape;
  autograd::Journal journal;
  std::vector<Var> leaves;
  for (const Tensor& x : inputs_) leaves.push_back(tape.watch(x));
  const Var out = forward(Pass(tape, core::Rng(3), journal), leaves);
  tape.sweep(out, upstream());
  Run result{out.value(), {}, {}};
  for (const Var& leaf : leaves) result.gradients.push_back(tape.gradient(leaf));
  result.parameter_gradients.assign(arena_->gradients().begin(), arena_->gradients().end());
  return result;
}

Tensor AttentionSample::upstream() const {
  return tests::random_tensor({sequences_.batch * sequences_.queries, width()}, 5);
}

Tensor AttentionSample::evaluate() const {
  return forward(Pass(core::Rng(3)), {inputs_.begin(), inputs_.end()}).value();
}

void AttentionSample::step(DecodeState& state, Index row, Index position,
                           std::span<Real> out) const {
  StepInput token{{}, inputs_.back().rows(row, 1).read(), position};
  for (std::size_t i = 0; i + 1 < inputs_.size(); ++i)
    token.blocks.push_back(inputs_[i].rows(row, 1).read());
  attention_->step(state, token, out);
}

Tensor AttentionSample::decode(Index b, Index copied_after) const {
  const Index length = sequences_.queries;
  auto state = attention_->begin();
  Tensor out({length, width()});
  for (Index t = 0; t < length; ++t) {
    if (t == copied_after) {
      const auto other = std::move(state);
      state = other->copy();
      std::vector<Real> ignored(static_cast<std::size_t>(width()));
      for (Index later = t; later < length; ++later) step(*other, b * length, later, ignored);
    }
    step(*state, b * length + t, t,
         out.write().subspan(std::size_t(t * width()), std::size_t(width())));
  }
  return out;
}

Index AttentionSample::rows_of(const Projection& projection) const {
  return sequences_.batch *
         (projection.side == Projection::Side::queries ? sequences_.queries : sequences_.keys);
}

}  // namespace weft::layers
