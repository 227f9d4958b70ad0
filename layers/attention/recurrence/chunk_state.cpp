#include "layers/attention/recurrence/chunk_state.h"

#include "core/arrays/triangular_solve.h"

namespace weft::layers {

void ChunkState::solve(const core::ConstMatrix& erased_from, const core::ConstMatrix& a,
                       const core::Matrix& u) const {
  const core::Matrix w = rows.writes();
  if (!problem.erases()) {
    std::copy_n(w.data, w.rows * w.cols, u.data);
    return;
  }
  for (Index i = 0; i < w.rows * w.cols; ++i) u.data[i] = w.data[i] - erased_from.data[i];
  core::solve_unit_lower(a, u);
}

void ChunkState::absorb(const core::ConstMatrix& u, const core::Matrix& s) {
  const core::Matrix keys = decayed(span.rows);
  decay.to_end(rows.keys(), keys);
  decay.over_chunk(s);
  core::gemm(1, core::transposed(keys), u, 1, s);
}

}  // namespace weft::layers
