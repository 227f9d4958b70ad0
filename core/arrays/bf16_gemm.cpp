#include "core/arrays/bf16_gemm.h"

#include <algorithm>

#include "core/arrays/bf16.h"
#include "core/arrays/onednn.h"

namespace weft::core {
namespace {

/// A factor as bfloat16: itself, or a copy that `memory` holds.
Operand rounded(const Operand& f, Bf16Array& memory) {
  if (f.rounded) return f;
  memory = Bf16Array(f.matrix.rows, f.matrix.cols);
  round_to_bf16(f.matrix, memory.write());
  return {memory.view(), f.transposed};
}

/// A rounded factor as Real again.
Operand widened(const Operand& f, Tensor& memory) {
  const ConstMatrix& m = f.matrix;
  memory = Tensor({m.rows, m.cols});
  Real* to = memory.write().data();
  for (Index r = 0; r < m.rows; ++r)
    std::transform(f.rounded + r * m.stride, f.rounded + r * m.stride + m.cols, to + r * m.cols,
                   from_bf16);
  return {ConstMatrix{to, m.rows, m.cols, m.cols}, f.transposed};
}

}  // namespace

void emulated_bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta,
                        const Matrix& c) {
  Bf16Array a_copy, b_copy;
  Tensor a_wide, b_wide;
  gemm(alpha, widened(rounded(a, a_copy), a_wide), widened(rounded(b, b_copy), b_wide), beta, c);
}

void bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  if (!onednn_multiplies_bf16() || a.cols() == 0) return emulated_bf16_gemm(alpha, a, b, beta, c);
  Bf16Array a_copy, b_copy;
  onednn_bf16_gemm(alpha, rounded(a, a_copy), rounded(b, b_copy), beta, c);
}

std::string bf16_library() { return onednn_multiplies_bf16() ? onednn_version() : "float"; }

}  // namespace weft::core
