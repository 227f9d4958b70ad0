#pragma once

#include "layers/attention/contract/normaliser.h"
#include "layers/attention/pattern/kernel.h"

namespace weft::layers {

/// One call of attention over patterns, as its pullback needs it again.
struct PatternCall {
  PatternProblem problem;
  /// Queries against keys, keys, values, and with relative positions the queries against tables.
  std::vector<HeadBlock> blocks;
  RelativePositions::Terms terms;
  Var reach;  ///< of the problem's soft edge, if it has one
  /// Where the problem's alphas come from, if they learn: the normaliser and its parameter.
  std::shared_ptr<const Normaliser> normaliser = nullptr;
  Var alpha = {};
  /// Softmax sinks, [H], and decays of the heads, [B n, H]; empty for none.
  Var sinks = {}, decay = {};

  /// Adds relative positions, of offsets up to `farthest` back.
  void place(const Pass& pass, const RelativePositions& relative, Index farthest = never);
  /// Adds terms whose labels the plans hold.  keys: [labels, D] or [labels, H D], bias: [H, labels]
  /// or empty
  void label(const Var& keys, const Var& bias);
  /// Saves: the projections, and for each query and head the output and one log-sum; under entmax
  /// the values by slopes and one threshold, for a learned alpha its derivative too.
  Var attend() const;

 private:
  struct Kept;
  std::vector<Var> tables() const;
  std::vector<Index> widths() const;
  PatternProblem whole_problem() const;
  autograd::Gradients pull_back(const HeadGradients& gradients, const Kept& kept,
                                const Tensor& dout) const;
};

/// The cost of a call of that problem, with relative positions (null for none) or without.
Cost pattern_cost(const PatternProblem& problem, const RelativePositions* relative,
                  Index farthest = never);

}  // namespace weft::layers
