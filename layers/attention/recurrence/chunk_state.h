#pragma once

#include "layers/attention/recurrence/chunk_pairs.h"
#include "layers/attention/recurrence/chunk_rows.h"

namespace weft::layers {

/// Rows [first, first + count) of a matrix.
inline core::Matrix rows_within(const core::Matrix& m, Index first, Index count) {
  return {m.data + first * m.stride, count, m.cols, m.stride};
}

/// One chunk of a lane and what carries the state over it; the same scratch for every chunk.
class ChunkState {
 public:
  ChunkState(const RecurrenceProblem& rule, const RecurrenceInputs& given, Index index)
      : problem(rule),
        inputs(given),
        lane(rule.lane(index)),
        rows(rule),
        decay(rule),
        pairs(rule, decay),
        scratch_({rule.rows() * (4 * rule.width + 2 * rule.rows())}) {
    memory_ = scratch_.write().data();
  }

  void load(Index chunk) {
    span = TokenSpan(problem, lane, chunk);
    rows.load(inputs, lane, span);
    decay.load(inputs, lane, span);
  }

  /// The written values u, given the values before anything is erased.  s: [D, D], u: [rows, D]
  /// `erased_from`: the product of decayed erasers with the state; `a`: their pairs.
  void solve(const core::ConstMatrix& erased_from, const core::ConstMatrix& a,
             const core::Matrix& u) const;
  /// Carries the state to the chunk's end.  s: [D, D]
  void absorb(const core::ConstMatrix& u, const core::Matrix& s);

  /// Scratch: decayed readers or keys, products with the state, and pairs.
  core::Matrix decayed(Index count) const { return {memory_, count, problem.width, problem.width}; }
  core::Matrix read(Index count) const {
    return {memory_ + 2 * problem.rows() * problem.width, count, problem.width, problem.width};
  }
  core::Matrix products(Index count) const {
    return {memory_ + 4 * problem.rows() * problem.width, count, span.rows, span.rows};
  }

  const RecurrenceProblem& problem;
  const RecurrenceInputs& inputs;
  const HeadLane lane;
  TokenSpan span{problem, lane, 0};
  ChunkRows rows;
  ChunkDecay decay;
  ChunkPairs pairs;

 private:
  Tensor scratch_;
  Real* memory_;
};

}  // namespace weft::layers
