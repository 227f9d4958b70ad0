#pragma once

#include "core/arrays/matrix.h"
#include "core/arrays/tensor.h"

namespace weft::core {

/// Numbers rounded to bfloat16, rows without gaps, in memory of the pool.
class Bf16Array {
 public:
  Bf16Array() = default;
  Bf16Array(Index rows, Index cols);
  /// A matrix rounded to nearest, even on ties, on all threads.
  static Bf16Array of(const ConstMatrix& m);

  Bf16* write() { return reinterpret_cast<Bf16*>(memory_.write().data()); }
  Bf16Matrix view() const {
    return {reinterpret_cast<const Bf16*>(memory_.data()), rows_, cols_, cols_};
  }
  bool empty() const { return rows_ * cols_ == 0; }

 private:
  Tensor memory_;
  Index rows_ = 0, cols_ = 0;
};

/// Rounds a matrix on the calling thread; rows of `to` have no gaps.
void round_to_bf16(const ConstMatrix& m, Bf16* to);

/// The number that a bfloat16 stands for.
Real from_bf16(Bf16 x);

}  // namespace weft::core
