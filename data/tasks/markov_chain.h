#pragma once

#include <span>
#include <vector>

#include "core/arrays/tokens.h"
#include "core/rng.h"

namespace weft::data {

/// A sparse Markov chain drawn once from a random stream: every symbol has `successors` different
/// successors, likely in proportion to successors : ... : 2 : 1. One of them is the next symbol on
/// a cycle through all symbols, so each can be reached from each.
class MarkovChain {
 public:
  MarkovChain(core::Index symbols, core::Index successors, const core::Rng& rng);

  core::Index symbols() const { return core::Index(next_.size()) / successors_; }
  /// The symbols that may follow `symbol`, the likeliest first.
  std::span<const core::Token> successors(core::Token symbol) const;
  /// Their probabilities, the same after every symbol.
  std::span<const double> probabilities() const { return probabilities_; }

  /// How often each symbol occurs in the long run.
  std::vector<double> stationary() const;
  /// Bits per symbol in the long run.
  double entropy() const;

 private:
  core::Index successors_;
  std::vector<core::Token> next_;  // [symbols, successors]
  std::vector<double> probabilities_;
};

}  // namespace weft::data
