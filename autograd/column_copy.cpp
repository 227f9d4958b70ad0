#include "autograd/column_copy.h"

#include <algorithm>
#include <vector>

#include "core/parallel.h"

namespace weft::autograd {
namespace {

using core::Index;
using core::Real;

void copy_columns(const Real* from, Index from_stride, Real* to, Index to_stride, Index rows,
                  Index count) {
  core::parallel_for(rows, core::rows_per_piece(count), [=](Index begin, Index end) {
    for (Index r = begin; r < end; ++r)
      std::copy_n(from + r * from_stride, count, to + r * to_stride);
  });
}

}  // namespace

core::Shape with_columns(const core::Shape& shape, Index columns) {
  std::vector<Index> extents;
  for (Index axis = 0; axis + 1 < shape.rank(); ++axis) extents.push_back(shape[axis]);
  extents.push_back(columns);
  return core::Shape(extents);
}

core::Tensor take_columns(const core::Tensor& x, Index first, Index count) {
  core::Tensor y(with_columns(x.shape(), count));
  copy_columns(x.data() + first, x.shape().back(), y.write().data(), count, x.shape().rows(),
               count);
  return y;
}

void put_columns(const core::Tensor& x, core::Tensor& y, Index first) {
  const Index count = x.shape().back();
  copy_columns(x.data(), count, y.write().data() + first, y.shape().back(), x.shape().rows(),
               count);
}

}  // namespace weft::autograd
