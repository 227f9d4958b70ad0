#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/problem.h"
#include "experiments/sweep/rules/assignment.h"
#include "experiments/sweep/rules/equal_rule.h"
#include "experiments/sweep/rules/halving.h"
#include "experiments/sweep/rules/prune_rule.h"

namespace weft::experiments {

/// One thing that varies: the trials take each of these alternatives.
struct SweepAxis {
  enum class Origin { list, grid, zip, random, tune, seeds };

  Origin origin;
  std::vector<Assignments> alternatives;

  /// The settings that any alternative gives, in the order of their first mention.
  std::vector<std::string> keys() const;
};

/// A sweep as written:
///
///     base = "quickstart.toml"        the config of every trial, relative to this file
///     seeds = [1, 2, 3]               or 3, for 1 to 3
///     equal = "parameters"            or "arithmetic" or "time": checked before anything starts
///     [grid]                          every value with every other
///     optim.lr = [1e-3, 3e-3]
///     [zip]                           the first with the first, the second with the second
///     model.width = [64, 128]
///     model.heads = [4, 8]
///     [[list]]                        settings that go together, one table for each alternative
///     model.attention = "local"
///     attention.local.window = 32
///     [random]                        n draws
///     n = 20
///     seed = 1
///     optim.weight_decay = { log = [1e-4, 1e-1] }    or linear; whole numbers from whole ends
///     [tune]                          what every arm chooses for itself (tune_section.h)
///     trials = 9
///     optim.lr = { log = [1e-3, 3e-2] }
///     [prune]                         what is far behind gets no more seeds (prune_rule.h)
///     after = 1
///     behind = 0.1
///     [eval]                          the same tokens are scored for every trial
///     tokens = 100_000
///     [[exclude]]                     leaves out the trials that have all of these
///     model.attention = "dense"
///
/// Its trials are the product of its axes, without the excluded ones; with [tune], those of the
/// rungs before them.
struct SweepFile {
  std::string path;
  std::string base;
  std::vector<SweepAxis> axes;
  std::vector<Rung> rungs;  ///< of [tune], whose candidates are an axis
  std::optional<PruneRule> prune;
  std::optional<EqualRule> equal;
  Index eval_tokens = 0;  ///< [eval] tokens: of the split that is scored; 0: all of it
  std::vector<Assignments> excluded;
  std::vector<ConfigOrigin> excluded_at;
  std::vector<ConfigProblem> problems;  ///< what is wrong with the file itself

  static SweepFile load(const std::string& path);
};

}  // namespace weft::experiments
