#include "core/arrays/bf16.h"

#include <bit>

#include "core/arrays/widened.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::core {
namespace {

constexpr Index per_real = Index(sizeof(Real) / sizeof(Bf16));

}  // namespace

Bf16Array::Bf16Array(Index rows, Index cols)
    : memory_({(rows * cols + per_real - 1) / per_real}), rows_(rows), cols_(cols) {}

Bf16Array Bf16Array::of(const ConstMatrix& m) {
  Bf16Array result(m.rows, m.cols);
  Bf16* to = result.write();
  parallel_for(m.rows, rows_per_piece(m.cols), [&](Index begin, Index end) {
    round_to_bf16({m.row(begin), end - begin, m.cols, m.stride}, to + begin * m.cols);
  });
  return result;
}

void round_to_bf16(const ConstMatrix& m, Bf16* to) {
  if (m.stride == m.cols) return simd().round_to_bf16(m.data, to, m.rows * m.cols);
  for (Index r = 0; r < m.rows; ++r) simd().round_to_bf16(m.row(r), to + r * m.cols, m.cols);
}

Real from_bf16(Bf16 x) { return Real(std::bit_cast<float>(std::uint32_t(x) << 16)); }

void widen_bf16(const Bf16* from, Real* to, Index n) {
  for (Index i = 0; i < n; ++i) to[i] = from_bf16(from[i]);
}

}  // namespace weft::core
