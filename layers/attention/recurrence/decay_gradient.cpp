#include "layers/attention/recurrence/decay_gradient.h"

#include "core/simd/kernels.h"

namespace weft::layers {

void DecayGradient::pull_back(const ChunkState& chunk, const core::Matrix& dreaders,
                              const core::Matrix& dkeys, const core::Matrix& s,
                              const core::Matrix& ds, const Gates& to) {
  const auto& simd = core::simd();
  const Index n = chunk.span.rows, width = chunk.problem.width;
  const bool by_column = chunk.decay.form() == GateForm::column;
  const core::Matrix readers = chunk.rows.readers(), keys = chunk.rows.keys();
  Real* sum = sum_.write().data();
  for (Index c = 0; c < width; ++c)
    sum[c] = simd.dot(s.data + c * width, ds.data + c * width, width);
  Real total = simd.sum(sum, width);
  for (Index r = n - 1; r >= 0; --r) {
    const Index columns = by_column ? width : 1;
    Real* dg = to.data + (chunk.span.token + r) * to.stride + chunk.lane.head * columns;
    const Index at = r * width, erased = at + n * width;
    if (by_column) {
      simd.multiply_add(readers.data + at, dreaders.data + at, sum, width);
      if (chunk.problem.erases())
        simd.multiply_add(readers.data + erased, dreaders.data + erased, sum, width);
      for (Index c = 0; c < width; ++c) sum[c] -= keys.data[at + c] * dkeys.data[at + c];
    } else {
      total += simd.dot(readers.data + at, dreaders.data + at, width) -
               simd.dot(keys.data + at, dkeys.data + at, width);
      if (chunk.problem.erases())
        total += simd.dot(readers.data + erased, dreaders.data + erased, width);
    }
    // Before the first token there is nothing to decay, after the real ones nothing decays.
    const bool first = chunk.span.first + r == 0 && !chunk.inputs.initial;
    if (first || r >= chunk.span.real)
      std::fill_n(dg, columns, Real(0));
    else if (by_column)
      std::copy_n(sum, width, dg);
    else
      *dg = total;
  }
}

}  // namespace weft::layers
