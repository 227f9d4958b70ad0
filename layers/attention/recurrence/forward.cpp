#include "core/parallel.h"
#include "layers/attention/recurrence/chunk_state.h"
#include "layers/attention/recurrence/kernel.h"

namespace weft::layers {
namespace {

/// The output of a chunk from the state before it, and what it writes.
void attend(ChunkState& chunk, const core::Matrix& s, const core::Matrix& u, Heads out) {
  const Index n = chunk.span.rows, width = chunk.problem.width, erased = chunk.problem.erases() * n;
  const core::Matrix readers = chunk.rows.readers(), decayed = chunk.decayed(readers.rows);
  const core::Matrix read = chunk.read(readers.rows), pairs = chunk.products(readers.rows);
  chunk.decay.from_start(readers, decayed);
  core::gemm(1, decayed, s, 0, read);
  chunk.pairs.multiply(
      chunk.problem.erases() ? ChunkPairs::Readers::both : ChunkPairs::Readers::queries, readers,
      chunk.rows.keys(), pairs);
  chunk.solve(rows_within(read, erased, n), rows_within(pairs, erased, n), u);
  core::gemm(1, rows_within(pairs, 0, n), u, 1, rows_within(read, 0, n));
  for (Index r = 0; r < n; ++r) {
    Real* to = out.data + (chunk.span.token + r) * out.stride + chunk.lane.head * width;
    for (Index d = 0; d < width; ++d) to[d] = chunk.problem.scale * read.data[r * width + d];
  }
}

}  // namespace

void recurrence_forward(const RecurrenceProblem& problem, const RecurrenceInputs& inputs, Heads out,
                        Real* final) {
  const Index width = problem.width, square = width * width;
  core::parallel_for(problem.lanes(), 1, [&](Index lane, Index) {
    ChunkState chunk(problem, inputs, lane);
    Tensor carried({square + problem.rows() * width});
    const core::Matrix s{carried.write().data(), width, width, width};
    if (inputs.initial)
      std::copy_n(inputs.initial + lane * square, square, s.data);
    else
      std::fill_n(s.data, square, Real(0));
    for (Index c = 0; c < problem.chunks(); ++c) {
      chunk.load(c);
      const core::Matrix u{s.data + square, chunk.span.rows, width, width};
      attend(chunk, s, u, out);
      if (final || c + 1 < problem.chunks()) chunk.absorb(u, s);
    }
    if (final) std::copy_n(s.data, square, final + lane * square);
  });
}

}  // namespace weft::layers
