#pragma once

#include "core/arrays/bf16.h"
#include "core/arrays/gemm.h"

namespace weft::core {

/// Makes matrices factors of products in some precision: in float32 they are read where they are,
/// in bf16 they are rounded into memory that the next one takes over.
class Factor {
 public:
  explicit Factor(Precision precision) : precision_(precision) {}

  /// Valid until the next call.
  Operand of(const ConstMatrix& m) {
    if (precision_ == Precision::float32) return m;
    if (memory_.view().cols < m.rows * m.cols) memory_ = Bf16Array(1, m.rows * m.cols);
    round_to_bf16(m, memory_.write());
    return Bf16Matrix{memory_.view().data, m.rows, m.cols, m.cols};
  }

 private:
  Precision precision_;
  Bf16Array memory_;
};

}  // namespace weft::core
