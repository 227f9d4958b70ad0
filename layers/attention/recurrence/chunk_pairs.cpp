#include "layers/attention/recurrence/chunk_pairs.h"

#include "core/simd/kernels.h"

namespace weft::layers {

ChunkPairs::ChunkPairs(const RecurrenceProblem& problem, const ChunkDecay& decay)
    : problem_(problem), decay_(decay), width_(problem.width) {
  if (problem.decay != GateForm::column) return;
  const Index rows = problem.rows(), block = 2 * ChunkDecay::part_rows;
  const Index panel = rows * width_, tile = block * std::max(rows, width_);
  storage_ = Tensor({3 * panel + 2 * block * width_ + tile});
  factors_ = storage_.write().data();
  keys_ = factors_ + panel;
  gradient_ = keys_ + panel;
  reader_factors_ = gradient_ + panel;
  readers_ = reader_factors_ + block * width_;
  tile_ = readers_ + block * width_;
}

/// Sets pairs to 0 that are not read and decays the others where decays are numbers.
void ChunkPairs::mask(Readers readers, const core::Matrix& pairs, bool decayed) const {
  const Index rows = decay_.rows();
  for (Index i = 0; i < pairs.rows; ++i) {
    const Index r = i % rows;
    const bool strict = readers == Readers::erasers || i >= rows;
    const Index end = strict ? r : r + 1;
    Real* row = pairs.data + i * pairs.stride;
    if (decayed) core::simd().multiply(row, decay_.between(r), row, end);
    std::fill(row + end, row + rows, Real(0));
  }
}

void ChunkPairs::multiply(Readers readers, const core::ConstMatrix& x, const core::ConstMatrix& k,
                          const core::Matrix& pairs) {
  if (decay_.form() == GateForm::column)
    multiply_by_column(x, k, pairs);
  else
    core::gemm(1, x, core::transposed(k), 0, pairs);
  mask(readers, pairs, decay_.form() == GateForm::token);
}

void ChunkPairs::pull_back(Readers readers, const core::Matrix& dpairs, const core::ConstMatrix& x,
                           const core::ConstMatrix& k, const core::Matrix& dx,
                           const core::Matrix& dk) {
  mask(readers, dpairs, decay_.form() == GateForm::token);
  if (decay_.form() == GateForm::column) return pull_back_by_column(dpairs, x, k, dx, dk);
  core::gemm(1, dpairs, k, 1, dx);
  core::gemm(1, core::transposed(dpairs), x, 1, dk);
}

Index ChunkPairs::flops(const RecurrenceProblem& problem, Index rows, Index groups) {
  if (problem.decay != GateForm::column) return 2 * groups * rows * rows * problem.width;
  Index total = 0;
  for (Index block = 0; block < rows; block += ChunkDecay::part_rows) {
    const Index end = std::min(block + ChunkDecay::part_rows, rows);
    total += 2 * groups * (end - block) * end * problem.width;
  }
  return total;
}

}  // namespace weft::layers
