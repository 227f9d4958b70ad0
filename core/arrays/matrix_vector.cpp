#include "core/arrays/matrix_vector.h"

#include <algorithm>

#include "core/counters.h"
#include "core/parallel.h"
#include "core/simd/kernels.h"

namespace weft::core {

void multiply_vector(const ConstMatrix& m, const Real* x, Real* y) {
  constexpr Index piece = 1 << 16;  // elements: long enough to stream, short enough to balance
  const Index rows = std::max<Index>(1, piece / std::max<Index>(1, m.cols));
  parallel_for(m.rows, rows, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) y[r] += simd().dot(m.data + r * m.stride, x, m.cols);
  });
  counters().flops.fetch_add(2 * m.rows * m.cols, std::memory_order_relaxed);
  counters().weight_bytes.fetch_add(m.rows * m.cols * Index(sizeof(Real)),
                                    std::memory_order_relaxed);
}

}  // namespace weft::core
