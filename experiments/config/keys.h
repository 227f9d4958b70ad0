#pragma once

#include <set>
#include <string>
#include <vector>

#include "experiments/config/kinds.h"
#include "experiments/config/node.h"
#include "experiments/config/problem.h"

namespace weft::experiments {

/// The keys that the components of a run ask for, against which a config is checked.
class ConfigKeys {
 public:
  void add_key(const std::string& path) { keys_.insert(path); }
  /// Adds a section and those around it.
  void add_section(const std::string& path);

  /// Every key and section of a config that nobody asked for: with which kind it would be used, or
  /// else the nearest one that is legal.
  std::vector<ConfigProblem> unknown_in(const ConfigNode& root, const ConfigKinds& kinds,
                                        const ConfigKinds::Selected& selected) const;

 private:
  std::set<std::string> keys_;
  std::set<std::string> sections_;
};

}  // namespace weft::experiments
