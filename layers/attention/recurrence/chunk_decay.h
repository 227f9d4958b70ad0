#pragma once

#include <vector>

#include "core/arrays/tensor.h"
#include "layers/attention/recurrence/problem.h"

namespace weft::layers {

/// How much a chunk's state and keys have decayed at each of its tokens. Every factor is a running
/// product of steps e^g <= 1, never a quotient of two and never e to the difference of two long
/// sums: any g <= 0 is safe, and a factor loses no more digits than it has steps.
class ChunkDecay {
 public:
  explicit ChunkDecay(const RecurrenceProblem& problem);

  void load(const RecurrenceInputs& inputs, const HeadLane& lane, const TokenSpan& span);

  /// y = x, row r of each group times the decay from the chunk's start to token r.
  /// x, y: [groups rows, D]; y may be x
  void from_start(const core::ConstMatrix& x, const core::Matrix& y) const;
  /// y = x, row r times the decay from token r to the chunk's end.  x, y: [rows, D]
  void to_end(const core::ConstMatrix& x, const core::Matrix& y) const;
  /// Decays a state, or the gradient of one, over the whole chunk.  s: [D, D]
  void over_chunk(const core::Matrix& s) const;

  GateForm form() const { return form_; }
  Index rows() const { return rows_; }
  /// e^g of token r, one number or D.
  const Real* step(Index r) const { return steps_ + r * columns_; }
  /// The decay from token j to token r >= j, one number each.  [rows, rows], below the diagonal
  const Real* between(Index r) const { return between_ + r * rows_; }

  /// The decay over the chunk where it is one number; 1 without any.
  Real whole() const { return form_ == GateForm::none ? 1 : from_start_[rows_ - 1]; }

  /// Tokens [first, last) whose decays since `first` stay above e^-80 in every column. They are
  /// inside one block of `part_rows` tokens.
  struct Part {
    Index first, last;
  };
  const std::vector<Part>& parts() const { return parts_; }
  static constexpr Index part_rows = 16;

 private:
  void read_steps(const RecurrenceInputs& inputs, const HeadLane& lane, const TokenSpan& span);
  void find_parts();
  void multiply_out();

  const RecurrenceProblem& problem_;
  GateForm form_;
  Index columns_, rows_ = 0;
  Tensor storage_;
  Real *steps_, *from_start_, *to_end_, *between_, *fall_;
  std::vector<Part> parts_;
};

}  // namespace weft::layers
