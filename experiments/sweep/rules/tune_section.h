#pragma once

#include <string>
#include <vector>

#include "experiments/config/problem.h"
#include "experiments/sweep/rules/assignment.h"
#include "experiments/sweep/rules/halving.h"

namespace weft::experiments {

/// [tune] of a sweep as written:
///
///     trials = 9                                   candidates of each arm
///     optim.lr = { log = [1e-3, 3e-2] }            from a range, ends included, evenly
///     optim.warmup = [50, 200]                     or of a list
///     budget = 2                                   what halving costs, in whole trainings
///     keep = 3                                     one in three goes on to the next rung
///     seed = 1                                     of which value meets which
///
/// The candidates are the same for every arm: each key takes its values evenly over all of them, in
/// an order of its own that depends on the seed and the key alone.
struct TuneSection {
  std::vector<std::string> keys;
  std::vector<Assignments> candidates;  ///< no two alike
  std::vector<Rung> rungs;
};

/// What is wrong with it goes to `problems`.
TuneSection read_tune_section(const ConfigNode& node, std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
