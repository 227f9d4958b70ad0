#pragma once

#include "data/tasks/markov_chain.h"

namespace weft::data {

/// The symbols of the recall language without its keys: what generated documents are filled with.
/// Every symbol has up to four successors; the language depends on the number of symbols only.
class ChainLanguage {
 public:
  explicit ChainLanguage(core::Index symbols);

  const MarkovChain& chain() const { return chain_; }
  /// How often each symbol occurs in the long run.
  const std::vector<double>& stationary() const { return stationary_; }

 private:
  MarkovChain chain_;
  std::vector<double> stationary_;
};

/// A walk through a language: one symbol after the other, drawn from a random stream.
class ChainWalk {
 public:
  ChainWalk(const ChainLanguage& language, const core::Rng& stream)
      : language_(&language), stream_(stream) {}

  core::Token next();

 private:
  const ChainLanguage* language_;
  core::Rng stream_;
  std::uint64_t drawn_ = 0;
  core::Token last_ = 0;
};

}  // namespace weft::data
