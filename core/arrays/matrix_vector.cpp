#include "core/arrays/matrix_vector.h"

#include <algorithm>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::core {

void multiply_vector(const ConstMatrix& m, const Real* x, Real* y) {
  multiply_vectors(m, {x, 1, m.cols, m.cols}, {y, 1, m.rows, m.rows});
}

void multiply_vectors(const ConstMatrix& m, const ConstMatrix& x, const Matrix& y) {
  constexpr Index piece = 1 << 16;  // elements: long enough to stream, short enough to balance
  constexpr Index near = 1 << 13;   // elements of vectors that stay in the first cache
  const Index cols = std::max<Index>(1, m.cols);
  const Index rows = std::max<Index>(1, piece / cols);
  const Index vectors = std::max<Index>(4, near / cols / 4 * 4);
  parallel_for(m.rows, rows, [&](Index begin, Index end) {
    for (Index first = 0; first < x.rows; first += vectors) {
      const Index count = std::min(vectors, x.rows - first);
      for (Index r = begin; r < end; ++r)
        for (Index v = first; v < first + count; ++v)
          y.row(v)[r] += simd().dot(m.row(r), x.row(v), m.cols);
    }
  });
  counters().flops.fetch_add(2 * x.rows * m.rows * m.cols, std::memory_order_relaxed);
  counters().weight_bytes.fetch_add(m.rows * m.cols * Index(sizeof(Real)),
                                    std::memory_order_relaxed);
}

}  // namespace weft::core
