#pragma once

#include <numeric>

#include "layers/multi_head/head_projection.h"

namespace weft::layers {

/// One matrix for all projections, packed.
class DenseProjection final : public HeadProjection {
 public:
  /// `columns`: of each projection.
  DenseProjection(Index width, const std::vector<Index>& columns, Init init)
      : all_(width, std::reduce(columns.begin(), columns.end()), init), columns_(columns) {}

  std::vector<HeadBlock> forward(const Pass&, const Var& x, Index) const override {
    return last_blocks(all_.forward(x), columns_.size());
  }
  std::vector<HeadBlock> behind_past(const Pass& pass, const Tensor& before,
                                     const std::vector<HeadBlock>& now,
                                     Index batch) const override {
    const Index first = now.front().first;
    const Index count = std::reduce(columns_.end() - std::ptrdiff_t(now.size()), columns_.end());
    const Var past = all_.part(pass, before, first, count);
    return last_blocks(autograd::append_rows(past, now.front().matrix, batch, first), now.size());
  }
  Tensor step(const StepRows&, const Tensor& x) const override {
    return all_.forward(Var(x)).value();
  }

  Index weights() const override { return all_.weights(); }
  void visit(Inventory& inventory) override { all_.visit(inventory); }

 private:
  /// A matrix of the last `count` projections.
  std::vector<HeadBlock> last_blocks(const Var& packed, std::size_t count) const {
    std::vector<HeadBlock> blocks;
    Index first = 0;
    for (std::size_t i = columns_.size() - count; i < columns_.size(); first += columns_[i++])
      blocks.push_back({packed, first});
    return blocks;
  }

  Linear all_;
  std::vector<Index> columns_;
};

}  // namespace weft::layers
