#pragma once

#include <span>
#include <vector>

#include "core/real.h"

namespace weft::layers {

using core::Index;
using core::Real;

/// A key and a value of one head.
struct KeyValue {
  const Real *key, *value;
};

/// One head of one token at decoding: a softmax over some rows and a sink, if any, which takes
/// weight and has no value.  q, out: [width]
void attend_rows(const Real* q, Index width, Real scale, const Real* sink,
                 std::span<const KeyValue> rows, Real* out);

/// The last rows of a sequence, of which the oldest is overwritten.
class RowRing {
 public:
  RowRing(Index rows, Index columns) : rows_(rows), columns_(columns) {}

  /// row: [columns]
  void append(std::span<const Real> row);
  Index count() const { return count_ < rows_ ? count_ : rows_; }
  /// The i-th of those that are kept, oldest first.
  const Real* row(Index i) const {
    return data_.data() + (count_ - count() + i) % rows_ * columns_;
  }
  Index bytes() const { return Index(data_.size() * sizeof(Real)); }

 private:
  Index rows_, columns_, count_ = 0;
  std::vector<Real> data_;  ///< grows up to `rows` rows
};

}  // namespace weft::layers
