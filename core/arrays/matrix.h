#pragma once

#include <cstdint>

#include "core/real.h"

namespace weft::core {

/// A matrix in memory: rows x cols, `stride` elements from one row to the next.
struct ConstMatrix {
  const Real* data;
  Index rows, cols, stride;
  const Real* row(Index r) const { return data + r * stride; }
};
struct Matrix {
  Real* data;
  Index rows, cols, stride;
  Real* row(Index r) const { return data + r * stride; }
  operator ConstMatrix() const { return {data, rows, cols, stride}; }
};

/// A bfloat16: the upper half of a float's bits.
using Bf16 = std::uint16_t;

struct Bf16Matrix {
  const Bf16* data = nullptr;
  Index rows = 0, cols = 0, stride = 0;
};

}  // namespace weft::core
