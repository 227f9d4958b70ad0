#include "layers/stack/reversible.h"

#include "core/scope.h"

namespace weft::layers {

Var run_reversible(const Pass& pass, const std::vector<Block>& blocks, const Var& x,
                   const std::vector<Sequences>& sequences, StreamOutput output) {
  std::vector<autograd::Part> branches;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto attend = [&block = blocks[i], i, sequence = sequences[i]](const Pass& own,
                                                                         const Var& in) {
      const core::Scope scope("layers", Index(i));
      return block.attention_branch(own.at(i), in, sequence);
    };
    const auto feed = [&block = blocks[i], i, sequence = sequences[i]](const Pass& own,
                                                                       const Var& in) {
      const core::Scope scope("layers", Index(i));
      return block.feed_forward_branch(own.at(i), in, sequence);
    };
    branches.emplace_back(attend);
    branches.emplace_back(feed);
  }
  return autograd::reversible(pass, std::move(branches), x, x, output);
}

Tensor step_reversible(const std::vector<Block>& blocks, std::vector<MultiHeadState>& states,
                       const Tensor& x, Index position, StreamOutput output) {
  Var first(x), second(x);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    first =
        autograd::add(first, Var(blocks[i].step_attention(states[i], second.value(), position)));
    second = autograd::add(second, Var(blocks[i].step_feed_forward(first.value())));
  }
  if (output == StreamOutput::concat) return autograd::concat({first, second}).value();
  return autograd::scale(autograd::add(first, second), Real(0.5)).value();
}

}  // namespace weft::layers
