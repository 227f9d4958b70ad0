#pragma once

#include "layers/attention/recurrence/chunk_state.h"

namespace weft::layers {

/// The gradient of a chunk's decays. A reader's row grows with the sum of decays up to it and a
/// key's shrinks with it, so that sum has the gradient readers dreaders - keys dkeys; at the
/// chunk's end the state after it adds its row sums of s ds. A decay has the sum of these from its
/// token on.
class DecayGradient {
 public:
  explicit DecayGradient(const RecurrenceProblem& problem) : sum_({problem.width}) {}

  /// s and ds: the state after the chunk and its gradient.  [D, D]
  void pull_back(const ChunkState& chunk, const core::Matrix& dreaders, const core::Matrix& dkeys,
                 const core::Matrix& s, const core::Matrix& ds, const Gates& to);

 private:
  Tensor sum_;
};

}  // namespace weft::layers
