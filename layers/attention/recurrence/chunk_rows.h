#pragma once

#include "core/arrays/tensor.h"
#include "layers/attention/recurrence/problem.h"

namespace weft::layers {

/// The rows of one chunk as the rule reads them: q, e, k and w, made from the projections and
/// gates. Padded tokens write, erase and hold nothing.
class ChunkRows {
 public:
  explicit ChunkRows(const RecurrenceProblem& problem);

  void load(const RecurrenceInputs& inputs, const HeadLane& lane, const TokenSpan& span);

  /// Queries, followed by the erasing keys.  [rows or 2 rows, D]
  core::Matrix readers() const { return matrix(0, problem_.groups() * rows_); }
  /// What is erased alone.  [rows, D]
  core::Matrix erasers() const {
    return {matrix(0, 0).data + rows_ * width_, rows_, width_, width_};
  }
  core::Matrix keys() const { return matrix(2, rows_); }
  core::Matrix writes() const { return matrix(3, rows_); }

  /// Takes the gradients of readers, keys and writes back to projections and gates.
  void pull_back(const RecurrenceInputs& inputs, const HeadLane& lane, const TokenSpan& span,
                 const core::Matrix& dreaders, const core::Matrix& dkeys,
                 const core::Matrix& dwrites, const RecurrenceGradients& to) const;

 private:
  core::Matrix matrix(Index panel, Index rows) const {
    return {memory_ + panel * problem_.rows() * width_, rows, width_, width_};
  }
  /// x / |x|, or x itself; returns 1 / |x|.
  Real normalise(const Real* x, Real* y) const;

  const RecurrenceProblem& problem_;
  Index width_, rows_ = 0;
  Tensor storage_;
  Real* memory_;                  ///< four panels of [rows, D]
  Real *q_inverse_, *k_inverse_;  ///< 1 / length of each row
};

}  // namespace weft::layers
