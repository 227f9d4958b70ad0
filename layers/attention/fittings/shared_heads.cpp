#include "layers/attention/fittings/shared_heads.h"

#include "core/error.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::layers {
namespace {

void repeat_row(const SharedHeads& heads, const Real* from, Real* to) {
  for (Index h = 0; h < heads.all; ++h)
    std::copy_n(from + h * heads.few / heads.all * heads.width, heads.width, to + h * heads.width);
}

}  // namespace

void sum_shared_heads(const SharedHeads& heads, ConstHeads from, Index tokens, Heads to) {
  const Index width = heads.width, each = heads.all / heads.few;
  core::parallel_for(tokens, core::rows_per_piece(heads.all * width), [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t)
      for (Index g = 0; g < heads.few; ++g) {
        const Real* own = from.data + t * from.stride + g * each * width;
        Real* sum = to.data + t * to.stride + g * width;
        std::copy_n(own, width, sum);
        for (Index h = 1; h < each; ++h) core::simd().add(own + h * width, sum, sum, width);
      }
  });
}

/// The gradient of a head is the sum of those of its repetitions.  Saves: nothing.
std::vector<HeadBlock> repeat_heads(const SharedHeads& heads,
                                    const std::vector<HeadBlock>& blocks) {
  core::require(heads.few > 0 && heads.all % heads.few == 0, "repeat_heads: ", heads.few,
                " heads cannot be shared by ", heads.all, " evenly");
  const Index rows = blocks[0].matrix.shape()[0], columns = heads.all * heads.width;
  const Index stride = Index(blocks.size()) * columns;
  Tensor y({rows, stride});
  Real* to = y.write().data();
  core::parallel_for(rows, core::rows_per_piece(stride), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const ConstHeads x = heads_of(blocks[i]);
        repeat_row(heads, x.data + r * x.stride, to + r * stride + Index(i) * columns);
      }
  });
  const HeadGradients gradients(blocks, heads.few * heads.width);
  const Var packed =
      autograd::record("repeat_heads", std::move(y), gradients.sources(),
                       [heads, gradients, count = blocks.size(), columns](Tensor dy) {
                         autograd::Gradients all = gradients.allocate();
                         for (std::size_t i = 0; i < count; ++i)
                           sum_shared_heads(heads, {dy.data() + Index(i) * columns, dy.shape()[1]},
                                            dy.shape()[0], gradients.heads(all, i));
                         return all;
                       });
  std::vector<HeadBlock> out;
  for (std::size_t i = 0; i < blocks.size(); ++i) out.push_back({packed, Index(i) * columns});
  return out;
}

std::vector<Real> repeat_heads(const SharedHeads& heads, std::span<const Real> row) {
  std::vector<Real> all(std::size_t(heads.all * heads.width));
  repeat_row(heads, row.data(), all.data());
  return all;
}

}  // namespace weft::layers
