#pragma once

#include <string>
#include <vector>

#include "experiments/config/problem.h"

namespace weft::experiments {

/// A setting of a run and the value that a sweep gives it.
struct Assignment {
  std::string key;  // "model.attention"
  ConfigNode value;
};
using Assignments = std::vector<Assignment>;

/// One thing that varies: the trials take each of these alternatives.
struct SweepAxis {
  enum class Origin { list, grid, zip, random, seeds };

  Origin origin;
  std::vector<Assignments> alternatives;

  /// The settings that any alternative gives, in the order of their first mention.
  std::vector<std::string> keys() const;
};

/// A sweep as written:
///
///     base = "quickstart.toml"        the config of every trial, relative to this file
///     seeds = [1, 2, 3]               or 3, for 1 to 3
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
///     [[exclude]]                     leaves out the trials that have all of these
///     model.attention = "dense"
///
/// Its trials are the product of its axes, without the excluded ones.
struct SweepFile {
  std::string path;
  std::string base;
  std::vector<SweepAxis> axes;
  std::vector<Assignments> excluded;
  std::vector<ConfigOrigin> excluded_at;
  std::vector<ConfigProblem> problems;  ///< what is wrong with the file itself

  static SweepFile load(const std::string& path);
};

}  // namespace weft::experiments
