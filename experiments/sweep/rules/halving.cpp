#include "experiments/sweep/rules/halving.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::experiments {
namespace {

constexpr double longest_share = 0.5;

/// Rungs whose first one has the share 1.
std::vector<Rung> relative_rungs(Index candidates, Index keep) {
  std::vector<Rung> rungs;
  double share = 1;
  for (Index n = candidates; n > 1; n = std::max<Index>(1, n / keep)) {
    rungs.push_back({n, share});
    share *= double(keep);
  }
  return rungs;
}

double cost_of(const std::vector<Rung>& rungs) {
  double cost = 0;
  for (const Rung& rung : rungs) cost += double(rung.candidates) * rung.share;
  return cost;
}

}  // namespace

std::vector<Rung> halving_rungs(Index candidates, Index keep, double budget) {
  std::vector<Rung> rungs = relative_rungs(candidates, keep);
  const double cost = cost_of(rungs);
  for (Rung& rung : rungs) rung.share *= budget / cost;
  return rungs;
}

double most_halving_budget(Index candidates, Index keep) {
  const std::vector<Rung> rungs = relative_rungs(candidates, keep);
  return rungs.empty() ? 0 : longest_share * cost_of(rungs) / rungs.back().share;
}

std::vector<std::size_t> kept_candidates(std::span<const double> losses, Index count) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (std::isfinite(losses[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return losses[i]; });
  order.resize(std::min(order.size(), std::size_t(std::max<Index>(0, count))));
  std::ranges::sort(order);
  return order;
}

}  // namespace weft::experiments
