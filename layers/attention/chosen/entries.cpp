#include "layers/attention/chosen/entries.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {

void mean_of_rows(const Real* rows, Index step, Index count, Index width, Real* mean) {
  std::copy_n(rows, width, mean);
  for (Index r = 1; r < count; ++r) core::simd().add(mean, rows + r * step, mean, width);
  core::simd().scale(1 / Real(count), mean, width);
}

/// A token gets 1 / block of the gradient of each entry that it is in.  Saves: nothing.
Var pool_means(const EntryLayout& layout, const std::vector<HeadBlock>& blocks, Index batch,
               Index columns) {
  const Index length = blocks[0].matrix.shape()[0] / batch, entries = layout.count(length);
  const Index stride = Index(blocks.size()) * columns;
  Tensor y({batch * entries, stride});
  Real* to = y.write().data();
  core::parallel_for(batch * entries, core::rows_per_piece(layout.block * stride),
                     [&](Index begin, Index end) {
                       for (Index e = begin; e < end; ++e)
                         for (std::size_t i = 0; i < blocks.size(); ++i) {
                           const ConstHeads x = heads_of(blocks[i]);
                           const Index row = e / entries * length + e % entries * layout.stride;
                           mean_of_rows(x.data + row * x.stride, x.stride, layout.block, columns,
                                        to + e * stride + Index(i) * columns);
                         }
                     });
  const HeadGradients gradients(blocks, columns);
  const std::size_t parts = blocks.size();
  return autograd::record("pool_means", std::move(y), gradients.sources(), [=](Tensor dy) {
    autograd::Gradients d = gradients.allocate();
    core::parallel_for(batch * Index(parts), 1, [&](Index task, Index) {
      const Index b = task / Index(parts), i = task % Index(parts);
      const Heads dx = gradients.heads(d, std::size_t(i));
      for (Index t = b * length; t < (b + 1) * length; ++t)
        std::fill_n(dx.data + t * dx.stride, columns, Real(0));
      for (Index c = 0; c < entries; ++c)
        for (Index a = 0; a < layout.block; ++a)
          core::simd().axpy(1 / Real(layout.block),
                            dy.data() + (b * entries + c) * stride + i * columns,
                            dx.data + (b * length + c * layout.stride + a) * dx.stride, columns);
    });
    return d;
  });
}

}  // namespace weft::layers
