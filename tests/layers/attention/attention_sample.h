#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/parameter_arena.h"
#include "layers/attention/contract/relative.h"
#include "layers/attention/contract/shared_tables.h"
#include "layers/attention/registry.h"
#include "tests/layers/attention/off_the_kink.h"
#include "tests/layers/given_fields.h"
#include "tests/random_values.h"

namespace weft::layers {

/// Sequences with padding behind the given numbers of real keys.
inline Sequences padded(Sequences sequences, std::vector<Index> key_lengths) {
  sequences.key_lengths = std::make_shared<const std::vector<Index>>(std::move(key_lengths));
  return sequences;
}

/// A mechanism of some kind with drawn inputs: one matrix for each projection, then the layer's
/// input x. Parameters of its own start by their laws, off the kink that some have there.
class AttentionSample {
 public:
  AttentionSample(const std::string& kind, const Sequences& sequences, Index heads,
                  Index head_width, const tests::Settings& settings = {},
                  const RelativeSettings& relative = {})
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

  const Attention& attention() const { return *attention_; }
  Attention& attention() { return *attention_; }
  const AttentionTraits& traits() const { return traits_; }
  /// Null unless asked for.
  const RelativePositions* relative() const { return relative_.get(); }
  autograd::ParameterArena& arena() { return *arena_; }
  /// The parameters and states of the mechanism.
  const autograd::Inventory& inventory() const { return inventory_; }
  const Sequences& sequences() const { return sequences_; }
  Index heads() const { return heads_; }
  Index head_width() const { return head_width_; }
  Index width() const { return heads_ * head_width_; }
  std::vector<Tensor>& inputs() { return inputs_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }

  /// One variable for each of inputs().
  Var forward(const Pass& pass, const std::vector<Var>& in) const {
    AttentionInput input{{}, in.back(), sequences_};
    for (std::size_t i = 0; i + 1 < in.size(); ++i) input.blocks.push_back({in[i], 0});
    return attention_->forward(pass, input);
  }

  /// Output and gradients of a training pass. The upstream gradient is drawn.
  struct Run {
    Tensor out;
    std::vector<Tensor> gradients;
    std::vector<Real> parameter_gradients;
  };
  Run run() const {
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
  Tensor upstream() const {
    return tests::random_tensor({sequences_.batch * sequences_.queries, width()}, 5);
  }
  /// Without a tape, in evaluation.
  Tensor evaluate() const {
    return forward(Pass(core::Rng(3)), {inputs_.begin(), inputs_.end()}).value();
  }
  /// Sequence b token by token -> [T, H D]
  Tensor decode(Index b) const {
    const Index length = sequences_.queries;
    const auto state = attention_->begin();
    Tensor out({length, width()});
    for (Index t = 0; t < length; ++t) {
      StepInput step{{}, inputs_.back().rows(b * length + t, 1).read(), t};
      for (std::size_t i = 0; i + 1 < inputs_.size(); ++i)
        step.blocks.push_back(inputs_[i].rows(b * length + t, 1).read());
      attention_->step(*state, step,
                       out.write().subspan(std::size_t(t * width()), std::size_t(width())));
    }
    return out;
  }

 private:
  Index rows_of(const Projection& projection) const {
    return sequences_.batch *
           (projection.side == Projection::Side::queries ? sequences_.queries : sequences_.keys);
  }

  Sequences sequences_;
  Index heads_, head_width_;
  std::unique_ptr<SharedTables> shared_ = std::make_unique<SharedTables>();
  std::shared_ptr<RelativePositions> relative_;
  AttentionTraits traits_;
  std::unique_ptr<Attention> attention_;
  autograd::Inventory inventory_;
  std::unique_ptr<autograd::ParameterArena> arena_;
  std::vector<Tensor> inputs_;
};

}  // namespace weft::layers
