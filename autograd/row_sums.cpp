#include "autograd/row_sums.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::autograd {

using core::Index;
using core::Real;

void sum_over_rows(Index rows, Index width, std::span<Real> to,
                   const std::function<void(Index, Index, Real*)>& body) {
  // At most 64 pieces, so that the partial sums stay small compared with what is summed.
  const Index piece = std::max({(rows + 63) / 64, core::rows_per_piece(width), Index(1)});
  const Index pieces = (rows + piece - 1) / piece;
  core::Tensor partial({pieces, width}, 0);
  Real* sums = partial.write().data();
  core::parallel_for(
      rows, piece, [&](Index begin, Index end) { body(begin, end, sums + begin / piece * width); });
  if (to.empty()) return;
  for (Index i = 0; i < pieces; ++i) core::simd().axpy(1, sums + i * width, to.data(), width);
}

void add_row_sums(const core::Tensor& x, std::span<Real> to) {
  const Index n = x.shape().back();
  const Real* from = x.data();
  sum_over_rows(x.shape().rows(), n, to, [=](Index begin, Index end, Real* sums) {
    for (Index r = begin; r < end; ++r) core::simd().axpy(1, from + r * n, sums, n);
  });
}

}  // namespace weft::autograd
