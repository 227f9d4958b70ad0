#include "layers/attention/contract/heads.h"

namespace weft::layers {

ConstHeads heads_of(const HeadBlock& block) {
  return {block.matrix.value().data() + block.first, block.matrix.shape().back()};
}

ProductHeads::ProductHeads(core::Precision precision, ConstHeads x, Index tokens, Index columns)
    : exact_(x) {
  if (precision == core::Precision::bf16)
    rounded_ = core::Bf16Array::of({x.data, tokens, columns, x.stride});
}

HeadGradients::HeadGradients(const std::vector<HeadBlock>& blocks,
                             const std::vector<Index>& widths) {
  std::vector<Index> used;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const HeadBlock& block = blocks[i];
    std::size_t s = 0;
    while (s < sources_.size() && !sources_[s].is(block.matrix)) ++s;
    if (s == sources_.size()) {
      sources_.push_back(block.matrix);
      shapes_.push_back(block.matrix.shape());
      used.push_back(0);
    }
    used[s] += widths[i];
    places_.push_back({s, block.first});
  }
  for (std::size_t s = 0; s < sources_.size(); ++s)
    covered_.push_back(used[s] == shapes_[s].back());
}

autograd::Gradients HeadGradients::allocate() const {
  autograd::Gradients gradients;
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    gradients.push_back(covered_[s] ? Tensor(shapes_[s]) : Tensor(shapes_[s], 0));
  return gradients;
}

Heads HeadGradients::heads(autograd::Gradients& gradients, std::size_t block) const {
  Tensor& gradient = gradients[places_[block].source];
  return {gradient.write().data() + places_[block].first, gradient.shape().back()};
}

}  // namespace weft::layers
