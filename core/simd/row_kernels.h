#pragma once

#include <xsimd/xsimd.hpp>

#include "core/real.h"

// Kernels that go through the rows of a matrix. Compiled for each instruction set like kernels.cpp,
// which alone includes it and puts them into its table (kernels.h says what each does).
#ifndef WEFT_SIMD
#define WEFT_SIMD baseline
#endif

namespace weft::core::WEFT_SIMD {

using Batch = xsimd::batch<Real>;
inline constexpr Index lanes = Index(Batch::size);

inline Batch load(const Real* p) { return Batch::load_unaligned(p); }

/// Columns [0, Wide * lanes) of a row times a matrix.
template <int Wide>
void project_columns(const Real* x, const Real* m, Real* y, Index d, Index cols) {
  Batch sums[Wide];
  for (Batch& s : sums) s = Batch(Real(0));
  for (Index i = 0; i < d; ++i) {
    const Batch factor(x[i]);
    for (int w = 0; w < Wide; ++w)
      sums[w] = xsimd::fma(factor, load(m + i * cols + w * lanes), sums[w]);
  }
  for (int w = 0; w < Wide; ++w) sums[w].store_unaligned(y + w * lanes);
}

inline void project(const Real* x, const Real* m, Real* y, Index d, Index cols) {
  Index c = 0;
  for (; c + 8 * lanes <= cols; c += 8 * lanes) project_columns<8>(x, m + c, y + c, d, cols);
  for (; c + 2 * lanes <= cols; c += 2 * lanes) project_columns<2>(x, m + c, y + c, d, cols);
  for (; c + lanes <= cols; c += lanes) project_columns<1>(x, m + c, y + c, d, cols);
  for (; c < cols; ++c) {
    Real sum = 0;
    for (Index i = 0; i < d; ++i) sum += x[i] * m[i * cols + c];
    y[c] = sum;
  }
}

template <int Rows>
void dots_of(const Real* x, const Real* rows, Index stride, const std::int32_t* index, Real* y,
             Index d) {
  const Real* row[Rows];
  Batch sums[Rows];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    row[r] = rows + index[r] * stride;
    sums[r] = Batch(Real(0));
  }
  Index i = 0;
  for (; i + lanes <= d; i += lanes) {
    const Batch factor = load(x + i);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) sums[r] = xsimd::fma(factor, load(row[r] + i), sums[r]);
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    y[r] = xsimd::hadd(sums[r]);
    for (Index j = i; j < d; ++j) y[r] += x[j] * row[r][j];
  }
}

inline void dots(const Real* x, const Real* rows, Index stride, const std::int32_t* index, Real* y,
                 Index count, Index d) {
  Index i = 0;
  for (; i + 4 <= count; i += 4) dots_of<4>(x, rows, stride, index + i, y + i, d);
  for (; i < count; ++i) dots_of<1>(x, rows, stride, index + i, y + i, d);
}

/// Columns [0, Wide * lanes) of a sum of rows.
template <int Wide>
void add_columns(const Real* a, const Real* rows, Index stride, const std::int32_t* index, Real* y,
                 Index count) {
  Batch sums[Wide];
  for (int w = 0; w < Wide; ++w) sums[w] = load(y + w * lanes);
  for (Index i = 0; i < count; ++i) {
    const Batch factor(a[i]);
    const Real* const row = rows + index[i] * stride;
    for (int w = 0; w < Wide; ++w) sums[w] = xsimd::fma(factor, load(row + w * lanes), sums[w]);
  }
  for (int w = 0; w < Wide; ++w) sums[w].store_unaligned(y + w * lanes);
}

inline void add_rows(const Real* a, const Real* rows, Index stride, const std::int32_t* index,
                     Real* y, Index count, Index d) {
  Index c = 0;
  for (; c + 4 * lanes <= d; c += 4 * lanes)
    add_columns<4>(a, rows + c, stride, index, y + c, count);
  for (; c + lanes <= d; c += lanes) add_columns<1>(a, rows + c, stride, index, y + c, count);
  for (; c < d; ++c)
    for (Index i = 0; i < count; ++i) y[c] += a[i] * rows[index[i] * stride + c];
}

/// Columns [0, Wide * lanes) of rows that each gain a multiple of x.
template <int Wide>
void add_outer_columns(const Real* a, const Real* x, Real* rows, Index stride,
                       const std::int32_t* index, Index count) {
  Batch terms[Wide];
  for (int w = 0; w < Wide; ++w) terms[w] = load(x + w * lanes);
  for (Index i = 0; i < count; ++i) {
    const Batch factor(a[i]);
    Real* const row = rows + index[i] * stride;
    for (int w = 0; w < Wide; ++w)
      xsimd::fma(factor, terms[w], load(row + w * lanes)).store_unaligned(row + w * lanes);
  }
}

inline void add_outer(const Real* a, const Real* x, Real* rows, Index stride,
                      const std::int32_t* index, Index count, Index d) {
  Index c = 0;
  for (; c + 4 * lanes <= d; c += 4 * lanes)
    add_outer_columns<4>(a, x + c, rows + c, stride, index, count);
  for (; c + lanes <= d; c += lanes) add_outer_columns<1>(a, x + c, rows + c, stride, index, count);
  for (; c < d; ++c)
    for (Index i = 0; i < count; ++i) rows[index[i] * stride + c] += a[i] * x[c];
}

}  // namespace weft::core::WEFT_SIMD
