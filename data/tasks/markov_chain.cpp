#include "data/tasks/markov_chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/tasks/draws.h"

namespace weft::data {
using core::Index;
using core::Token;

MarkovChain::MarkovChain(Index symbols, Index successors, const core::Rng& rng)
    : successors_(successors) {
  core::require(successors >= 1 && successors <= symbols, "Markov chain: ", symbols,
                " symbols cannot have ", successors, " successors each");
  std::vector<Token> cycle(static_cast<std::size_t>(symbols));
  std::iota(cycle.begin(), cycle.end(), 0);
  std::vector<Token> pool = cycle;
  choose(cycle, symbols, rng.fold("cycle"));
  next_.resize(std::size_t(symbols * successors));
  for (std::size_t place = 0; place < cycle.size(); ++place) {
    const auto symbol = std::uint64_t(cycle[place]);
    const Token follower = cycle[(place + 1) % cycle.size()];
    choose(pool, successors, rng.fold("successors").fold(symbol));
    const std::span<Token> row =
        std::span(next_).subspan(symbol * std::size_t(successors), std::size_t(successors));
    std::copy_n(pool.begin(), row.size(), row.begin());
    if (std::ranges::find(row, follower) == row.end()) {
      row[std::size_t(rng.fold("rank").below(symbol, successors))] = follower;
    }
  }
  const double total = double(successors * (successors + 1)) / 2;
  for (Index i = 0; i < successors; ++i) probabilities_.push_back(double(successors - i) / total);
}

std::span<const Token> MarkovChain::successors(Token symbol) const {
  const auto count = std::size_t(successors_);
  return std::span(next_).subspan(std::size_t(symbol) * count, count);
}

/// The fixed point of "stay with probability 1/2, else move", which has the chain's own stationary
/// distribution and converges even when the chain is periodic.
std::vector<double> MarkovChain::stationary() const {
  const auto count = std::size_t(symbols());
  std::vector<double> now(count, 1.0 / double(count)), next(count);
  for (int round = 0; round < 100000; ++round) {
    std::ranges::fill(next, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
      next[i] += now[i] / 2;
      const auto followers = successors(Token(i));
      for (std::size_t j = 0; j < followers.size(); ++j) {
        next[std::size_t(followers[j])] += now[i] * probabilities_[j] / 2;
      }
    }
    double change = 0;
    for (std::size_t i = 0; i < count; ++i) change += std::abs(next[i] - now[i]);
    now.swap(next);
    if (change < 1e-15) break;
  }
  return now;
}

double MarkovChain::entropy() const {
  double bits = 0;
  for (const double p : probabilities_) bits -= p * std::log2(p);
  return bits;
}

}  // namespace weft::data
