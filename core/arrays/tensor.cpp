#include "core/arrays/tensor.h"

#include <algorithm>
#include <vector>

#include "core/counters.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::core {

Tensor::Tensor(Shape shape) : shape_(shape), storage_(allocate(shape.size())) {
  data_ = storage_.get();
}

Tensor::Tensor(Shape shape, Real fill) : Tensor(shape) { std::fill_n(data_, size(), fill); }

Tensor Tensor::lend(Shape shape, Real* data) {
  Tensor lent;
  lent.shape_ = shape;
  lent.data_ = data;
  return lent;
}

std::span<Real> Tensor::write() {
  if (!is_sole_owner() && size() > 0) {
    counters().detaches.fetch_add(1, std::memory_order_relaxed);
    Tensor own(shape_);
    std::copy_n(data_, size(), own.data_);
    *this = std::move(own);
  }
  return {data_, std::size_t(size())};
}

Tensor Tensor::reshaped(Shape shape) const {
  require(shape.size() == size(), "reshape: ", shape_, " has ", size(), " elements, ", shape,
          " needs ", shape.size());
  Tensor result = *this;
  result.shape_ = shape;
  return result;
}

Tensor Tensor::rows(Index first, Index count) const {
  require(shape_.rank() >= 1 && first >= 0 && count >= 0 && first + count <= shape_.front(),
          "rows: [", first, ", ", first + count, ") of shape ", shape_);
  const Index width = shape_.front() == 0 ? 0 : size() / shape_.front();
  std::vector<Index> extents;
  for (Index axis = 0; axis < shape_.rank(); ++axis)
    extents.push_back(axis == 0 ? count : shape_[axis]);
  Tensor result = *this;
  result.shape_ = Shape(extents);
  result.data_ += first * width;
  return result;
}

Real scalar(const Tensor& x) {
  require(x.size() == 1, "scalar: needs one element, got shape ", x.shape());
  return x.read()[0];
}

void accumulate(Tensor& to, const Tensor& x) {
  require(to.shape() == x.shape(), "accumulate: shapes ", to.shape(), " and ", x.shape());
  Real* y = to.write().data();
  const Real* from = x.data();
  parallel_for(x.size(), elementwise_grain, [=](Index begin, Index end) {
    simd().add(from + begin, y + begin, y + begin, end - begin);
  });
}

}  // namespace weft::core
