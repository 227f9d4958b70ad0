#pragma once

#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// One call of softmax attention over patterns, as its pullback needs it again.
struct PatternCall {
  PatternProblem problem;
  /// Queries against keys, keys, values, and with relative positions the queries against tables.
  std::vector<HeadBlock> blocks;
  RelativePositions::Terms terms;
  Var reach;  ///< of the problem's soft edge, if it has one

  /// Adds relative positions, of offsets up to `farthest` back.
  void place(const Pass& pass, const RelativePositions& relative, Index farthest = never);
  /// Saves: the projections, the output and one log-sum for each query and head.
  Var attend() const;

 private:
  std::vector<Var> tables() const;
};

/// What a call of that problem costs, with relative positions (null for none) or without.
Cost pattern_cost(const PatternProblem& problem, const RelativePositions* relative,
                  Index farthest = never);

}  // namespace weft::layers
