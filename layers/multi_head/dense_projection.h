#pragma once

#include "layers/multi_head/head_projection.h"

namespace weft::layers {

/// One matrix for all projections, packed.
class DenseProjection final : public HeadProjection {
 public:
  DenseProjection(Index width, Index projections, Index columns, Init init)
      : all_(width, projections * columns, init), count_(projections), columns_(columns) {}

  std::vector<HeadBlock> forward(const Pass&, const Var& x, Index) const override {
    const Var packed = all_.forward(x);
    std::vector<HeadBlock> blocks;
    for (Index i = 0; i < count_; ++i) blocks.push_back({packed, i * columns_});
    return blocks;
  }
  std::vector<HeadBlock> behind_past(const Pass& pass, const Tensor& before,
                                     const std::vector<HeadBlock>& now,
                                     Index batch) const override {
    const Index first = now.front().first, count = Index(now.size()) * columns_;
    const Var past = all_.part(pass, before, first, count);
    const Var both = autograd::append_rows(past, now.front().matrix, batch, first);
    std::vector<HeadBlock> blocks;
    for (std::size_t i = 0; i < now.size(); ++i) blocks.push_back({both, Index(i) * columns_});
    return blocks;
  }
  Tensor step(DecodeState*, const Tensor& x) const override { return all_.forward(Var(x)).value(); }

  Index weights() const override { return all_.weights(); }
  void visit(Inventory& inventory) override { all_.visit(inventory); }

 private:
  Linear all_;
  Index count_, columns_;
};

}  // namespace weft::layers
