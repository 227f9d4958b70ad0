#pragma once

#include <memory>
#include <span>

#include "core/arrays/shape.h"

namespace weft::core {

/// A dense row-major array with value semantics. Copies, reshapes and leading-axis slices share
/// storage in O(1); `write` first makes the storage its own (copy on write), so nothing that a
/// tape holds can change. There are no strides: transposition is a flag of the matrix product.
class Tensor {
 public:
  /// Empty, of shape [0].
  Tensor() = default;
  /// Uninitialised.
  explicit Tensor(Shape shape);
  Tensor(Shape shape, Real fill);

  /// Read-only window on memory that lives elsewhere (a parameter arena); writing detaches.
  static Tensor lend(Shape shape, Real* data);

  const Shape& shape() const { return shape_; }
  Index size() const { return shape_.size(); }
  const Real* data() const { return data_; }
  std::span<const Real> read() const { return {data_, std::size_t(size())}; }
  /// For the recording thread only; kernels running in parallel receive spans.
  std::span<Real> write();

  /// Same elements, other extents.
  Tensor reshaped(Shape shape) const;
  /// Rows [first, first + count) of the leading axis.
  Tensor rows(Index first, Index count) const;
  /// True when a write would not copy.
  bool is_sole_owner() const { return storage_.use_count() == 1; }

 private:
  Shape shape_{0};
  Real* data_ = nullptr;
  std::shared_ptr<Real> storage_;  ///< empty when it belongs to others (lend)
};

/// The value of a one-element tensor.
Real scalar(const Tensor& x);

/// to += x, element by element.
void accumulate(Tensor& to, const Tensor& x);

}  // namespace weft::core
