#pragma once

#include <vector>

#include "experiments/config/problem.h"

namespace weft::experiments {

/// [prune]: what gets no more seeds. When the first `after` seeds of all that compete on a task
/// have ended, those whose mean validation loss is more than `behind`, a share of the lowest, above
/// the lowest train no further seed.
struct PruneRule {
  Index after = 1;
  double behind = 0.1;

  bool gives_up(double loss, double lowest) const { return !(loss <= lowest * (1 + behind)); }
};

/// What is wrong with the section goes to `problems`.
PruneRule read_prune_section(const ConfigNode& node, std::vector<ConfigProblem>& problems);

}  // namespace weft::experiments
