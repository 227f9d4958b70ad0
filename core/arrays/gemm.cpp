#include "core/arrays/gemm.h"

#include <cblas.h>

#include <algorithm>

#include "core/arrays/avx512_products.h"
#include "core/arrays/bf16.h"
#include "core/arrays/float_products.h"
#include "core/arrays/onednn.h"
#include "core/arrays/openblas.h"
#include "core/arrays/widened.h"
#include "core/error.h"
#include "core/parallel.h"

namespace weft::core {
namespace {

void check(const Operand& a, const Operand& b, const Matrix& c) {
  require(a.rows() == c.rows && b.cols() == c.cols && a.cols() == b.rows(), "gemm: [", a.rows(),
          ", ", a.cols(), "] x [", b.rows(), ", ", b.cols(), "] does not give [", c.rows, ", ",
          c.cols, "]");
}

Operand column_panel(const Operand& f, Index first, Index count) {
  return transposed(row_panel(transposed(f), first, count));
}

/// Splits `extent` into an even number of equal panels, multiples of 16, each at least `least`
/// long; into one where it is too short for two.
Index panel_length(Index extent, Index least) {
  const Index panels = std::max<Index>(1, extent / least / 2 * 2);
  const Index length = (extent + panels - 1) / panels;
  return (length + 15) / 16 * 16;
}

constexpr Index least_work = 1 << 21;  // multiply-adds below which a panel is not worth a task

struct PanelSize {
  Index rows, cols;
};

/// Panels of a result of at most as many rows and columns as terms, such as the gradient of a
/// weight: squares of which a thread keeps one in its cache while the terms pass by.
PanelSize square_panel(Index rows, Index cols, Index terms) {
  constexpr Index side = 256, least_side = 64, enough = 4;
  const auto length = [](Index extent, Index parts) {
    return ((extent + parts - 1) / parts + 15) / 16 * 16;
  };
  Index row_parts = (rows + side - 1) / side, column_parts = (cols + side - 1) / side;
  if (row_parts > 1) row_parts += row_parts % 2;
  while (row_parts * column_parts < enough &&
         rows * cols * terms / (row_parts * column_parts) >= 2 * least_work) {
    const bool tall = rows / row_parts >= cols / column_parts;
    if ((tall ? rows / row_parts : cols / column_parts) < 2 * least_side) break;
    (tall ? row_parts : column_parts) *= 2;
  }
  return {length(rows, row_parts), length(cols, column_parts)};
}

PanelSize panel_of(Index rows, Index cols, Index terms) {
  if (terms >= std::max(rows, cols)) return square_panel(rows, cols, terms);
  const Index row_work = std::max<Index>(1, cols * terms);
  const Index tall = std::max(rows_per_panel(rows), panel_length(rows, least_work / row_work + 1));
  if ((rows + tall - 1) / tall >= 4) return {tall, cols};
  // A short, wide result is split by columns instead.
  const Index column_work = std::max<Index>(1, rows * terms);
  return {tall, panel_length(cols, std::max<Index>(128, least_work / column_work))};
}

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
  for (Index r = 0; r < m.rows; ++r) widen_bf16(f.rounded + r * m.stride, to + r * m.cols, m.cols);
  return {ConstMatrix{to, m.rows, m.cols, m.cols}, f.transposed};
}

/// Both factors rounded, by the faster way that there is.
void bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  if (!onednn_multiplies_bf16() || a.cols() == 0) return emulated_bf16_gemm(alpha, a, b, beta, c);
  Bf16Array a_copy, b_copy;
  onednn_gemm(alpha, rounded(a, a_copy), rounded(b, b_copy), beta, c);
}

}  // namespace

void emulated_bf16_gemm(Real alpha, const Operand& a, const Operand& b, Real beta,
                        const Matrix& c) {
  Bf16Array a_copy, b_copy;
  Tensor a_wide, b_wide;
  gemm(alpha, widened(rounded(a, a_copy), a_wide), widened(rounded(b, b_copy), b_wide), beta, c);
}

std::string bf16_library() { return onednn_multiplies_bf16() ? onednn_version() : "float"; }

Index rows_per_panel(Index rows) {
  return panel_length(rows, std::clamp<Index>(rows / 4, 128, 384));
}

void gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  check(a, b, c);
  if (c.rows == 0 || c.cols == 0) return;
  if (a.rounded || b.rounded) return bf16_gemm(alpha, a, b, beta, c);
  switch (multiplier_of(a, b, c)) {
    case Multiplier::openblas:
      return openblas_gemm(alpha, a, b, beta, c);
    case Multiplier::onednn:
      return onednn_gemm(alpha, a, b, beta, c);
    case Multiplier::avx512:
      return avx512_gemm(alpha, a, b, beta, c);
  }
}

void gemm(Precision precision, Real alpha, const Operand& a, const Operand& b, Real beta,
          const Matrix& c) {
  if (precision == Precision::float32 || c.rows == 0 || c.cols == 0)
    return gemm(alpha, a, b, beta, c);
  check(a, b, c);
  bf16_gemm(alpha, a, b, beta, c);
}

void parallel_gemm(Real alpha, const Operand& a, const Operand& b, Real beta, const Matrix& c) {
  check(a, b, c);
  if (c.rows == 0 || c.cols == 0) return;
  const auto [rows, cols] = panel_of(c.rows, c.cols, a.cols());
  const Index row_panels = (c.rows + rows - 1) / rows, column_panels = (c.cols + cols - 1) / cols;
  parallel_for(row_panels * column_panels, 1, [&](Index panel, Index) {
    const Index i = panel / column_panels * rows, j = panel % column_panels * cols;
    const Index m = std::min(rows, c.rows - i), n = std::min(cols, c.cols - j);
    gemm(alpha, row_panel(a, i, m), column_panel(b, j, n), beta,
         {c.data + i * c.stride + j, m, n, c.stride});
  });
}

std::string blas_core() { return openblas_get_corename(); }

std::string better_blas_core() {
#ifdef __x86_64__
  const std::string core = blas_core();
  const bool generic = core == "Prescott" || core == "Core2" || core == "Nehalem" ||
                       core == "Sandybridge" || core == "Atom";
  const bool half = core == "Haswell" || core == "Zen";
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl");
  if (wide && (generic || half)) return "SkylakeX";
  if (generic && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

}  // namespace weft::core
