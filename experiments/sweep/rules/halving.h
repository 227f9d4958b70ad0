#pragma once

#include <span>
#include <vector>

#include "core/real.h"

namespace weft::experiments {

using core::Index;

/// One round of successive halving.
struct Rung {
  Index candidates = 0;  ///< that train in it
  double share = 0;      ///< of the whole budget, that each of them gets
};

/// The rungs for this many candidates, of which one in `keep` goes on to a rung with `keep` times
/// the budget, until one is left. All of them together cost `budget` whole trainings. None for a
/// single candidate.
std::vector<Rung> halving_rungs(Index candidates, Index keep, double budget);

/// The most that halving may cost, in whole trainings: its last rung takes half of one.
double most_halving_budget(Index candidates, Index keep);

/// The `count` candidates with the least loss, in their own order; of equal ones the earlier.
/// One whose loss is no finite number is never kept.
std::vector<std::size_t> kept_candidates(std::span<const double> losses, Index count);

}  // namespace weft::experiments
