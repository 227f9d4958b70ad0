#include "data/tasks/chain_walk.h"

#include <algorithm>

namespace weft::data {
namespace {

/// The index that a number from [0, 1) falls on when each has its probability.
std::size_t drawn_from(std::span<const double> probabilities, double uniform) {
  std::size_t i = 0;
  while (i + 1 < probabilities.size() && (uniform -= probabilities[i]) >= 0) ++i;
  return i;
}

}  // namespace

ChainLanguage::ChainLanguage(core::Index symbols)
    : chain_(symbols, std::min<core::Index>(4, symbols), core::Rng(1).fold("recall source")),
      stationary_(chain_.stationary()) {}

core::Token ChainWalk::next() {
  const double uniform = stream_.uniform(drawn_);
  const MarkovChain& chain = language_->chain();
  last_ = drawn_ == 0 ? core::Token(drawn_from(language_->stationary(), uniform))
                      : chain.successors(last_)[drawn_from(chain.probabilities(), uniform)];
  ++drawn_;
  return last_;
}

}  // namespace weft::data
