#pragma once

#include "autograd/parameter.h"
#include "autograd/tape.h"
#include "core/arrays/bf16.h"
#include "core/arrays/widened.h"
#include "core/precision.h"

namespace weft::autograd {

/// An array that a pullback reads again row by row, element by element, never as a factor of a
/// product: itself or, where products are in bf16, rounded, in half of the memory.
class KeptRows {
 public:
  /// x: [..., n]
  KeptRows(const core::Tensor& x, core::Precision precision) {
    const core::Index n = x.shape().back();
    if (precision == core::Precision::bf16)
      rounded_ = core::Bf16Array::of({x.data(), x.shape().rows(), n, n});
    else
      exact_ = x;
  }

  /// Row r, in `room` where it was rounded.  room: [n]
  const core::Real* row(core::Index r, core::Real* room) const {
    if (rounded_.empty()) return exact_.data() + r * exact_.shape().back();
    const core::Bf16Matrix all = rounded_.view();
    core::widen_bf16(all.data + r * all.cols, room, all.cols);
    return room;
  }

 private:
  core::Tensor exact_;
  core::Bf16Array rounded_;
};

/// bias_gelu with x kept for its gradient in some precision; the value is the same.
Var bias_gelu(const Var& x, const Parameter& bias, core::Precision kept);

}  // namespace weft::autograd
